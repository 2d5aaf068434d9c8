// task: softmax
// kind: 16
// stage: L1
// reason: expected
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += expf(x[r * cols + c]);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c]) / sum;
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
}
