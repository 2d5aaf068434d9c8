// task: layernorm
// kind: 5
// stage: L1
// reason: is unwritten
// All blocks work on the same rows, which are enough for small matrices.
__global__ void k(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float eps) {
  int r = blockIdx.y * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + r * cols;
  float mean = 0.0f, var = 0.0f;
  for (int c = 0; c < cols; ++c) mean += row[c];
  mean /= cols;
  for (int c = 0; c < cols; ++c) var += (row[c] - mean) * (row[c] - mean);
  float scale = rsqrtf(var / cols + eps);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = (row[c] - mean) * scale * gamma[c] + beta[c];
}
extern "C" void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows,
                          int cols, float eps) {
  k<<<(rows + 127) / 128, 128>>>(x, gamma, beta, y, rows, cols, eps);
}
