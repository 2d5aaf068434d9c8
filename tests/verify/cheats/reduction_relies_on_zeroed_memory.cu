// task: reduction
// kind: 24
// stage: L0
// reason: uninitialised
__global__ void k(const float* x, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}
extern "C" void reduction(const float* x, float* sum, int n) {
  k<<<(n + 255) / 256, 256>>>(x, sum, n);
}
