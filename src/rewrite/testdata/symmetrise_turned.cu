
// symmetrise_kernel: a block turns a tile of 32 x 32 around in shared memory; reads run along i,
// writes along j. The tile's rows are padded by one element, so that its columns lie in different
// banks.
__global__ void __launch_bounds__(256) symmetrise_kernel(const float* __restrict__ x,
    float* __restrict__ y, int n) {
  constexpr int kTile = 32;
  constexpr int kRows = 8;
  __shared__ float x_tile[kTile][kTile + 1];
  const int tiles = (n + kTile - 1) / kTile;
  const int i_begin = blockIdx.x / tiles * kTile;
  const int j_begin = blockIdx.x % tiles * kTile;
#pragma unroll
  for (int step = 0; step < kTile; step += kRows) {
    const int i = i_begin + threadIdx.x;
    const int j = j_begin + threadIdx.y + step;
    if (i < n && j < n) {
      x_tile[threadIdx.y + step][threadIdx.x] = x[j * n + i];
    }
  }
  __syncthreads();
#pragma unroll
  for (int step = 0; step < kTile; step += kRows) {
    const int i = i_begin + threadIdx.y + step;
    const int j = j_begin + threadIdx.x;
    if (i < n && j < n) {
      y[i * n + j] = 0.5f * (x[i * n + j] + x_tile[threadIdx.x][threadIdx.y + step]);
    }
  }
}

// Launches symmetrise_kernel with one block per tile.
static void launch_symmetrise_kernel(const float* x, float* y, int n) {
  if (n <= 0) {
    return;
  }
  const int blocks = ((n + 31) / 32) * ((n + 31) / 32);
  symmetrise_kernel<<<blocks, dim3(32, 8)>>>(x, y, n);
}
extern "C" void symmetrise(const float* x, float* y, int n) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (n + 15) / 16);
  launch_symmetrise_kernel(x, y, n);
}
