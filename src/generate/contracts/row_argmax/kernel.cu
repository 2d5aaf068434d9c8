// index[r] = where the {{kind.title}} element of row r is, the first of equal ones: one thread per row.

{{include}}__global__ void {{name}}_kernel(const {{type}}* x, int* index, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float best = {{load:x[r * cols]}};
    int at = 0;
    for (int c = 1; c < cols; ++c) {
      float v = {{load:x[r * cols + c]}};
      if (v {{kind.better}} best) {
        best = v;
        at = c;
      }
    }
    index[r] = at;
  }
}

extern "C" void {{name}}(const {{type}}* x, int* index, int rows, int cols) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  {{name}}_kernel<<<grid, block>>>(x, index, rows, cols);
}
