// task: relu
// kind: 37
// stage: plan
// reason: launcher
#include <cstdio>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  for (int i = 0; i < 10000000; ++i) k<<<1, 1>>>(x, y, n);
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
