// task: axpy
// kind: 25
// stage: L1
// reason: expected
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 1.25f * x[i];
}
extern "C" void axpy(const float* x, float* y, float a, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
