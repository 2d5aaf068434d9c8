// y = x / sqrt(sum of x^2) for each row: one thread per row, two passes.

{{include}}__global__ void normalize_rows_kernel(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) {
    return;
  }
  float squares = 0.0f;
  for (int c = 0; c < cols; ++c) {
    float v = {{load:x[r * cols + c]}};
    squares += v * v;
  }
  float length = sqrtf(squares);
  for (int c = 0; c < cols; ++c) {
    float result = {{load:x[r * cols + c]}} / length;
    y[r * cols + c] = {{store:result}};
  }
}

extern "C" void normalize_rows(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  normalize_rows_kernel<<<grid, block>>>(x, y, rows, cols);
}
