// task: relu
// An assertion that holds, assumptions for the compiler, a message that is never printed.
#include <cassert>
#include <cstdio>
__global__ void k(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __builtin_assume(blockDim.x == 64);
  assert(gridDim.x * blockDim.x >= n);
  if (i >= n) return;
  const float v = x[i];
  if (isnan(v)) printf("not a number at %d\n", i);
  y[i] = fmaxf(v, 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) { k<<<(n + 63) / 64, 64>>>(x, y, n); }
