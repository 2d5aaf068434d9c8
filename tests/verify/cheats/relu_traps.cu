// task: relu
// kind: 37
// stage: L0
// reason: trap
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = fmaxf(x[i], 0.0f);
  if (i == 254) __trap();
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
