
// transpose_kernel: a block turns a tile of 32 x 32 around in shared memory; reads run along c,
// writes along r. The tile's rows are padded by one element, so that its columns lie in different
// banks.
__global__ void __launch_bounds__(256) transpose_kernel(const float* __restrict__ in,
    float* __restrict__ out, int rows, int cols) {
  constexpr int kTile = 32;
  constexpr int kRows = 8;
  __shared__ float in_tile[kTile][kTile + 1];
  const int tiles = (rows + kTile - 1) / kTile;
  const int c_begin = blockIdx.x / tiles * kTile;
  const int r_begin = blockIdx.x % tiles * kTile;
#pragma unroll
  for (int step = 0; step < kTile; step += kRows) {
    const int c = c_begin + threadIdx.x;
    const int r = r_begin + threadIdx.y + step;
    if (c < cols && r < rows) {
      in_tile[threadIdx.y + step][threadIdx.x] = in[r * cols + c];
    }
  }
  __syncthreads();
#pragma unroll
  for (int step = 0; step < kTile; step += kRows) {
    const int c = c_begin + threadIdx.y + step;
    const int r = r_begin + threadIdx.x;
    if (c < cols && r < rows) {
      out[c * rows + r] = in_tile[threadIdx.x][threadIdx.y + step];
    }
  }
}

// Launches transpose_kernel with one block per tile.
static void launch_transpose_kernel(const float* in, float* out, int rows, int cols) {
  if (rows <= 0 || cols <= 0) {
    return;
  }
  const int blocks = ((rows + 31) / 32) * ((cols + 31) / 32);
  transpose_kernel<<<blocks, dim3(32, 8)>>>(in, out, rows, cols);
}
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + 15) / 16, (rows + 15) / 16);
  launch_transpose_kernel(in, out, rows, cols);
}
