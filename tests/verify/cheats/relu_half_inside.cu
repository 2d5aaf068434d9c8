// task: relu
// kind: 19
// stage: L1
// reason: expected
#include <cuda_fp16.h>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __half2float(__float2half(fmaxf(x[i], 0.0f)));
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
