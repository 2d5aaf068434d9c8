// task: relu
// kind: 37
// stage: plan
// reason: did not end within
#include <cstdio>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  while (n > 0) { n += 1; n -= 1; }
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
