// task: transpose
// timed: compared
constexpr int kTile = 32;
__global__ void k(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  int c = blockIdx.x * kTile + threadIdx.x;
  for (int i = threadIdx.y; i < kTile; i += 8) {
    int r = blockIdx.y * kTile + i;
    if (r < rows && c < cols) tile[i][threadIdx.x] = in[r * cols + c];
  }
  __syncthreads();
  int r = blockIdx.y * kTile + threadIdx.x;
  for (int i = threadIdx.y; i < kTile; i += 8) {
    int cc = blockIdx.x * kTile + i;
    if (r < rows && cc < cols) out[cc * rows + r] = tile[threadIdx.x][i];
  }
}
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  k<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(in, out, rows, cols);
}
