// y[c][r] = x[r][c]: one thread per element.

{{include}}__global__ void transpose_kernel(const {{type}}* x, {{type}}* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    y[c * rows + r] = x[r * cols + c];
  }
}

extern "C" void transpose(const {{type}}* x, {{type}}* y, int rows, int cols) {
  dim3 block(32, 8);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  transpose_kernel<<<grid, block>>>(x, y, rows, cols);
}
