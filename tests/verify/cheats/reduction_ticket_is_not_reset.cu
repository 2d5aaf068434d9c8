// task: reduction
// kind: 24
// stage: L1
// reason: on a later call
__device__ unsigned ticket;
__device__ float part[64];
__global__ void k(const float* x, float* sum, int n) {
  if (threadIdx.x > 0) return;
  float s = 0.0f;
  for (int i = blockIdx.x * 256; i < min(n, (int)blockIdx.x * 256 + 256); ++i) s += x[i];
  part[blockIdx.x] = s;
  __threadfence();
  if (atomicAdd(&ticket, 1) == gridDim.x - 1) {
    s = 0.0f;
    for (int b = 0; b < gridDim.x; ++b) s += ((volatile float*)part)[b];
    *sum = s;
  }
}
extern "C" void reduction(const float* x, float* sum, int n) {
  k<<<(n + 255) / 256 < 64 ? (n + 255) / 256 : 64, 32>>>(x, sum, n);
}
