// task: add_bf16
// Pairs where the row lies on a word, single elements elsewhere.
#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* x, const __nv_bfloat16* bias, __nv_bfloat16* y, int cols) {
  const size_t row = static_cast<size_t>(blockIdx.y) * cols;
  const int c = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (row % 2 == 0 && c + 1 < cols) {
    const __nv_bfloat162 v = *reinterpret_cast<const __nv_bfloat162*>(x + row + c);
    const __nv_bfloat162 w = *reinterpret_cast<const __nv_bfloat162*>(bias + c);
    *reinterpret_cast<__nv_bfloat162*>(y + row + c) = __hadd2(v, w);
  } else {
    for (int j = c; j < c + 2 && j < cols; ++j) y[row + j] = __hadd(x[row + j], bias[j]);
  }
}
extern "C" void add_bf16(const __nv_bfloat16* x, const __nv_bfloat16* bias, __nv_bfloat16* y, int rows,
                         int cols) {
  k<<<dim3((cols + 255) / 256, rows), 128>>>(x, bias, y, cols);
}
