// task: add_bf16
// bfloat16 as the upper half of a float, rounded to even with integers.
#include <cuda_bf16.h>
__device__ float widen(unsigned short v) { return __uint_as_float(static_cast<unsigned>(v) << 16); }
__device__ unsigned short narrow(float v) {
  const unsigned bits = __float_as_uint(v);
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
__global__ void k(const unsigned short* x, const unsigned short* bias, unsigned short* y, int n, int cols) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = narrow(widen(x[i]) + widen(bias[i % cols]));
  }
}
using Words = const unsigned short*;
extern "C" void add_bf16(const __nv_bfloat16* x, const __nv_bfloat16* bias, __nv_bfloat16* y, int rows,
                         int cols) {
  k<<<64, 128>>>((Words)x, (Words)bias, (unsigned short*)y, rows * cols, cols);
}
