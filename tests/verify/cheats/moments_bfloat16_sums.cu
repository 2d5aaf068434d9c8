// task: moments
// kind: 19
// stage: L1
// reason: expected
#include <cuda_bf16.h>
__global__ void k(const float* x, float* mean, float* variance, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0.0f, q = 0.0f;
  for (int c = 0; c < cols; ++c) s += __bfloat162float(__float2bfloat16(x[r * cols + c]));
  for (int c = 0; c < cols; ++c) {
    float d = __bfloat162float(__float2bfloat16(x[r * cols + c])) - s / cols;
    q += d * d;
  }
  mean[r] = s / cols;
  variance[r] = q / cols;
}
extern "C" void moments(const float* x, float* mean, float* variance, int rows, int cols) {
  k<<<(rows + 31) / 32, 32>>>(x, mean, variance, rows, cols);
}
