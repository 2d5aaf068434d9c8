// y[r] = the {{op.title}} of row r: one thread per row.

{{include}}__global__ void {{name}}_kernel(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    {{accum}} result = {{op.start}};
    for (int c = 0; c < cols; ++c) {
      {{accum}} v = {{load:x[r * cols + c]}};
      result = {{op.combine}};
    }
    {{accum}} total = {{op.finish}};
    y[r] = {{store:total}};
  }
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  {{name}}_kernel<<<grid, block>>>(x, y, rows, cols);
}
