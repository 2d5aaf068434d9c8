// a[r][c] = x[r] * y[c]: one thread per element.

{{include}}__global__ void outer_product_kernel(const {{type}}* x, const {{type}}* y, {{type}}* a, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    {{accum}} result = {{load:x[r]}} * {{load:y[c]}};
    a[r * cols + c] = {{store:result}};
  }
}

extern "C" void outer_product(const {{type}}* x, const {{type}}* y, {{type}}* a, int rows, int cols) {
  dim3 block(32, 8);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  outer_product_kernel<<<grid, block>>>(x, y, a, rows, cols);
}
