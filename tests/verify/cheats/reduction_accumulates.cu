// task: reduction
// kind: 24
// stage: L1
// reason: on a later call
__device__ float total;
__global__ void k(const float* x, float* sum, int n) {
  for (int i = 0; i < n; ++i) total += x[i];
  *sum = total;
}
extern "C" void reduction(const float* x, float* sum, int n) {
  k<<<1, 1>>>(x, sum, n);
}
