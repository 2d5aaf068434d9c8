// task: softmax
// Threads beyond the last row have left when the others meet at a barrier.
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = -INFINITY;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[r * cols + c]);
  __syncthreads();
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += expf(x[r * cols + c] - m);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c] - m) / sum;
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
}
