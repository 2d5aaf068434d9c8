// task: scale_f16
// half2 throughout, converted in pairs; the odd element goes alone.
#include <cuda_fp16.h>
__global__ void k(const __half* x, __half* y, float a, float b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {
    float2 v = __half22float2(reinterpret_cast<const __half2*>(x)[i]);
    v.x = fmaf(a, v.x, b);
    v.y = fmaf(a, v.y, b);
    reinterpret_cast<__half2*>(y)[i] = __floats2half2_rn(v.x, v.y);
  } else if (i == n / 2 && n % 2 == 1) {
    y[n - 1] = __float2half(fmaf(a, __half2float(x[n - 1]), b));
  }
}
extern "C" void scale_f16(const __half* x, __half* y, float a, float b, int n) {
  k<<<n / 2 / 256 + 1, 256>>>(x, y, a, b, n);
}
