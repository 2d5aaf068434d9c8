// Two stages of asynchronous copies under a sum.
// n: 2048
// out: 512
#include <cuda_pipeline.h>

__global__ void Sum(const float* in, float* out, int n) {
  __shared__ float tile[2][128];
  const int t = threadIdx.x;
  const int steps = n / 128;
  __pipeline_memcpy_async(&tile[0][t], &in[t], 4);
  __pipeline_commit();
  float sum = 0.0f;
  for (int k = 0; k < steps; ++k) {
    if (k + 1 < steps) {
      __pipeline_memcpy_async(&tile[(k + 1) % 2][t], &in[(k + 1) * 128 + t], 4);
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[k % 2][127 - t];
    __syncthreads();
  }
  out[t] = sum;
}

extern "C" void launch(const float* in, float* out, int n) {
  Sum<<<1, 128>>>(in, out, n);
}
