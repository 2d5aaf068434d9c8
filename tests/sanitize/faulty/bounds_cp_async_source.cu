// The last asynchronous copy begins inside of the input and ends outside.
// n: 254
// emulator: out of bounds
// sanitizer: memcheck
#include <cuda_pipeline.h>

__global__ void Stage(const float* in, float* out, int n) {
  __shared__ alignas(16) float tile[256];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t * 4], &in[t * 4], 16);  // here
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = t; i < n; i += 64) {
    out[i] = tile[i];
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Stage<<<1, 64>>>(in, out, n);
}
