// task: scale_f16
// kind: 14
// stage: L1
// reason: is unwritten
#include <cuda_fp16.h>
__global__ void k(const __half2* x, __half2* y, float a, float b, int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pairs) {
    float2 v = __half22float2(x[i]);
    y[i] = __floats2half2_rn(a * v.x + b, a * v.y + b);
  }
}
extern "C" void scale_f16(const __half* x, __half* y, float a, float b, int n) {
  k<<<(n / 2 + 256) / 256, 256>>>((const __half2*)x, (__half2*)y, a, b, n / 2);
}
