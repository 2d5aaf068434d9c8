// y = centre * x + side * (the sum of the four neighbours) inside of the grid, x on its border: one
// thread per point.

__global__ void stencil_2d_kernel(const {{type}}* x, {{type}}* y, float centre, float side, int rows,
                                  int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    int i = r * cols + c;
    if (r > 0 && r < rows - 1 && c > 0 && c < cols - 1) {
      y[i] = centre * x[i] + side * (x[i - 1] + x[i + 1] + x[i - cols] + x[i + cols]);
    } else {
      y[i] = x[i];
    }
  }
}

extern "C" void stencil_2d(const {{type}}* x, {{type}}* y, float centre, float side, int rows, int cols) {
  dim3 block(32, 8);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  stencil_2d_kernel<<<grid, block>>>(x, y, centre, side, rows, cols);
}
