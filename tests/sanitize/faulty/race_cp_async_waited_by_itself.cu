// Each thread waits for its own copies and then reads those of others.
// n: 256
// emulator: race
// also: uninitialised
// sanitizer: racecheck
#include <cuda_pipeline.h>

__global__ void Stage(const float* in, float* out, int n) {
  __shared__ alignas(16) float tile[256];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t * 4], &in[t * 4], 16);  // here
  __pipeline_commit();
  __pipeline_wait_prior(0);  // here
  out[t] = tile[n - 1 - t];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Stage<<<1, 64>>>(in, out, n);
}
