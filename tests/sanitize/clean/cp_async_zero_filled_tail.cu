// The last asynchronous copies read less than they write.
// n: 254
#include <cuda_pipeline.h>

__global__ void Stage(const float* in, float* out, int n) {
  __shared__ alignas(16) float tile[256];
  const int t = threadIdx.x;
  const int left = n - t * 4;
  __pipeline_memcpy_async(&tile[t * 4], &in[t * 4], 16, left >= 4 ? 0 : 16 - 4 * left);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = t; i < n; i += 64) {
    out[i] = tile[i] + tile[255 - i];
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Stage<<<1, 64>>>(in, out, n);
}
