// y[r] = the {{kind.title}} of row r, the largest element subtracted first: one thread per row.

{{include}}__global__ void {{name}}_kernel(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) {
    return;
  }
  float largest = {{load:x[r * cols]}};
  for (int c = 1; c < cols; ++c) {
    float v = {{load:x[r * cols + c]}};
    largest = fmaxf(largest, v);
  }
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    float v = {{load:x[r * cols + c]}};
    sum += expf(v - largest);
  }
  for (int c = 0; c < cols; ++c) {
    float v = {{load:x[r * cols + c]}};
    float result = {{kind.kernel}};
    y[r * cols + c] = {{store:result}};
  }
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  {{name}}_kernel<<<grid, block>>>(x, y, rows, cols);
}
