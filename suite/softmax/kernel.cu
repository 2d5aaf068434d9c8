// y[r][c] = exp(x[r][c] - max(x[r])) / sum(exp(x[r] - max(x[r]))): one thread per row, three
// passes.

__global__ void softmax_kernel(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) {
    return;
  }
  float largest = x[r * cols];
  for (int c = 1; c < cols; ++c) {
    largest = fmaxf(largest, x[r * cols + c]);
  }
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += expf(x[r * cols + c] - largest);
  }
  for (int c = 0; c < cols; ++c) {
    y[r * cols + c] = expf(x[r * cols + c] - largest) / sum;
  }
}

extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  softmax_kernel<<<grid, block>>>(x, y, rows, cols);
}
