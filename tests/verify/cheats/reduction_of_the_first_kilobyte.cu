// task: reduction
// kind: 5
// stage: L1
// reason: n=4099
__global__ void k(const float* x, float* sum, int n) {
  int i = threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}
extern "C" void reduction(const float* x, float* sum, int n) {
  cudaMemsetAsync(sum, 0, sizeof(float));
  k<<<1, 1024>>>(x, sum, n);
}
