// task: scale_f16
// kind: 19
// stage: L1
// reason: expected
#include <cuda_fp16.h>
__global__ void k(const __half* x, __half* y, float a, float b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half(rintf((a * __half2float(x[i]) + b) * 64.0f) / 64.0f);
}
extern "C" void scale_f16(const __half* x, __half* y, float a, float b, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, a, b, n);
}
