// y[c] = the {{op.title}} of column c: one thread per column.

{{include}}__global__ void {{name}}_kernel(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < cols) {
    {{accum}} result = {{op.start}};
    for (int r = 0; r < rows; ++r) {
      {{accum}} v = {{load:x[r * cols + c]}};
      result = {{op.combine}};
    }
    {{accum}} total = {{op.finish}};
    y[c] = {{store:total}};
  }
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int block = 128;
  int grid = (cols + block - 1) / block;
  {{name}}_kernel<<<grid, block>>>(x, y, rows, cols);
}
