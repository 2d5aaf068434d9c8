// task: relu
// kind: 21
// stage: L0
// reason: out of bounds
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = i < n ? fmaxf(x[i], 0.0f) : 0.0f;
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 256) / 256, 256>>>(x, y, n);
}
