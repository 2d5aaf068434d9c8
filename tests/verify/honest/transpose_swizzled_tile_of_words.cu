// task: transpose
// Elements move as words, so that no bit of a NaN can change; the tile is swizzled instead of padded.
__global__ void k(const unsigned* in, unsigned* out, int rows, int cols) {
  __shared__ unsigned tile[32 * 32];
  for (int y = threadIdx.y; y < 32; y += blockDim.y) {
    const int r = blockIdx.y * 32 + y, c = blockIdx.x * 32 + threadIdx.x;
    if (r < rows && c < cols) tile[y * 32 + (threadIdx.x ^ y)] = in[static_cast<size_t>(r) * cols + c];
  }
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += blockDim.y) {
    const int r = blockIdx.x * 32 + y, c = blockIdx.y * 32 + threadIdx.x;
    if (r < cols && c < rows) out[static_cast<size_t>(r) * rows + c] = tile[threadIdx.x * 32 + (y ^ threadIdx.x)];
  }
}
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  k<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 4)>>>((const unsigned*)in, (unsigned*)out, rows, cols);
}
