// task: moments
// The mean first, then the squares around it.
__device__ float block_sum(float v, float* s) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  __syncthreads();
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0.0f;
  for (int w = 0; w < blockDim.x / 32; ++w) v += s[w];
  return v;
}
__global__ void k(const float* x, float* mean, float* variance, int cols) {
  __shared__ float s[32];
  const float* row = x + static_cast<long long>(blockIdx.x) * cols;
  float v = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) v += row[c];
  const float m = block_sum(v, s) / cols;
  v = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) v += (row[c] - m) * (row[c] - m);
  v = block_sum(v, s);
  if (threadIdx.x == 0) mean[blockIdx.x] = m, variance[blockIdx.x] = v / cols;
}
extern "C" void moments(const float* x, float* mean, float* variance, int rows, int cols) {
  k<<<rows, cols >= 256 ? 256 : 64>>>(x, mean, variance, cols);
}
