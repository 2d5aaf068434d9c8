// task: layernorm
// Sum and sum of squares in one pass: on constant data all that is left is rounding, divided by almost
// nothing.
__global__ void k(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                  float eps) {
  int r = blockIdx.x;
  const float* row = x + r * cols;
  float sum = 0.0f;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    float v = row[c];
    sum += v;
    squares = fmaf(v, v, squares);
  }
  for (int d = 16; d > 0; d /= 2) {
    sum += __shfl_xor_sync(~0u, sum, d);
    squares += __shfl_xor_sync(~0u, squares, d);
  }
  float inverse = 1.0f / cols;
  float mean = sum * inverse;
  float variance = fmaxf(squares * inverse - mean * mean, 0.0f);
  float scale = rsqrtf(variance + eps);
  for (int c = threadIdx.x; c < cols; c += 32) {
    y[r * cols + c] = (row[c] - mean) * scale * gamma[c] + beta[c];
  }
}
extern "C" void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows,
                          int cols, float eps) {
  k<<<rows, 32>>>(x, gamma, beta, y, rows, cols, eps);
}
