// y[r] = sum over c of a[r][c] * x[c]: one thread per row.

{{include}}__global__ void gemv_kernel(const {{type}}* a, const {{type}}* x, {{type}}* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    {{accum}} sum = 0;
    for (int c = 0; c < cols; ++c) {
      sum += {{load:a[r * cols + c]}} * {{load:x[c]}};
    }
    y[r] = {{store:sum}};
  }
}

extern "C" void gemv(const {{type}}* a, const {{type}}* x, {{type}}* y, int rows, int cols) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  gemv_kernel<<<grid, block>>>(a, x, y, rows, cols);
}
