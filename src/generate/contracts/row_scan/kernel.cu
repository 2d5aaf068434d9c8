// y[r][c] = the {{op.title}} of x[r][0] ... x[r][c]: one thread per row.

__global__ void {{name}}_kernel(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    {{type}} total = {{op.start}};
    for (int c = 0; c < cols; ++c) {
      total = {{op.combine}};
      y[r * cols + c] = total;
    }
  }
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  {{name}}_kernel<<<grid, block>>>(x, y, rows, cols);
}
