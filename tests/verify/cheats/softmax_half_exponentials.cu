// task: softmax
// kind: 19
// stage: L1
// reason: expected
#include <cuda_fp16.h>
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = -INFINITY, s = 0.0f;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[r * cols + c]);
  for (int c = 0; c < cols; ++c) s += __half2float(hexp(__float2half(x[r * cols + c] - m)));
  for (int c = 0; c < cols; ++c) y[r * cols + c] = __half2float(hexp(__float2half(x[r * cols + c] - m))) / s;
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  k<<<(rows + 31) / 32, 32>>>(x, y, rows, cols);
}
