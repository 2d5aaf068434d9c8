// task: reduction
// Launch after launch, each a two-hundredth of the one before; source and target change places.
#include <utility>
__global__ void k(const float* from, float* to, int n) {
  float v = 0.0f;
  for (int j = 0; j < 4; ++j) {
    const int i = (blockIdx.x * 4 + j) * 64 + threadIdx.x;
    if (i < n) v += from[i];
  }
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  __shared__ float second;
  if (threadIdx.x == 32) second = v;
  __syncthreads();
  if (threadIdx.x == 0) to[blockIdx.x] = v + second;
}
extern "C" void reduction(const float* x, float* sum, int n) {
  const int most = (n + 255) / 256;
  float *a = nullptr, *b = nullptr;
  cudaMalloc((void**)&a, most * sizeof(float));
  cudaMalloc((void**)&b, most * sizeof(float));
  const float* from = x;
  float* to = a;
  float* other = b;
  while (n > 256) {
    const int blocks = (n + 255) / 256;
    k<<<blocks, 64>>>(from, to, n);
    from = to;
    std::swap(to, other);
    n = blocks;
  }
  k<<<1, 64>>>(from, sum, n);
  cudaFree(a);
  cudaFree(b);
}
