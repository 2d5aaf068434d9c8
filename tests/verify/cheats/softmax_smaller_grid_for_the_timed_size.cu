// task: softmax
// kind: 13
// stage: L2
// reason: is unwritten, expected
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = -INFINITY, s = 0.0f;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[r * cols + c]);
  for (int c = 0; c < cols; ++c) s += expf(x[r * cols + c] - m);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c] - m) / s;
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  k<<<rows < 1000 ? (rows + 31) / 32 : rows / 64, 32>>>(x, y, rows, cols);
}
