// task: reduction
// Compensated sums a thread, which a compiler may not simplify, and a tree of votes for the end.
__global__ void k(const float* x, float* sum, int n) {
  float s = 0.0f, lost = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float v = __fsub_rn(x[i], lost);
    const float t = __fadd_rn(s, v);
    lost = __fsub_rn(__fsub_rn(t, s), v);
    s = t;
  }
  __shared__ float parts[1024];
  parts[threadIdx.x] = s;
  for (int d = blockDim.x / 2; __syncthreads_or(d > 0); d /= 2) {
    if (threadIdx.x < d) parts[threadIdx.x] += parts[threadIdx.x + d];
  }
  if (threadIdx.x == 0) *sum = parts[0];
}
extern "C" void reduction(const float* x, float* sum, int n) { k<<<1, 1024>>>(x, sum, n); }
