// task: layernorm
// kind: 25
// stage: L1
// reason: got nan
__global__ void k(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float mean = 0.0f;
  for (int c = 0; c < cols; ++c) mean += x[r * cols + c];
  mean /= cols;
  float var = 0.0f;
  for (int c = 0; c < cols; ++c) var += (x[r * cols + c] - mean) * (x[r * cols + c] - mean);
  float scale = 1.0f / sqrtf(var / cols);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = (x[r * cols + c] - mean) * scale * gamma[c] + beta[c];
}
extern "C" void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows,
                          int cols, float eps) {
  k<<<(rows + 127) / 128, 128>>>(x, gamma, beta, y, rows, cols);
}
