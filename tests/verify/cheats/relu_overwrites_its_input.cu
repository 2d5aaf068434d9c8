// task: relu
// kind: 12
// stage: L0
// reason: read-only
__global__ void k(float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = fmaxf(x[i], 0.0f);
    y[i] = x[i];
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256>>>((float*)x, y, n);
}
