// task: transpose
// A padded tile, four rows a thread, and blocks in diagonal order.
constexpr int kTile = 32, kRows = 8;
__global__ void k(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  const int bx = (blockIdx.x + blockIdx.y) % gridDim.x, block_row = blockIdx.y;
  int c = bx * kTile + threadIdx.x, r = block_row * kTile + threadIdx.y;
#pragma unroll
  for (int j = 0; j < kTile; j += kRows) {
    if (c < cols && r + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(r + j) * cols + c];
  }
  __syncthreads();
  c = block_row * kTile + threadIdx.x;
  r = bx * kTile + threadIdx.y;
#pragma unroll
  for (int j = 0; j < kTile; j += kRows) {
    if (c < rows && r + j < cols) out[(r + j) * rows + c] = tile[threadIdx.x][threadIdx.y + j];
  }
}
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  k<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(kTile, kRows)>>>(in, out, rows, cols);
}
