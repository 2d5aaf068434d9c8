// y = centre * x + side * (the sum of the six neighbours) inside of the volume, x on its border: one
// thread per point.

__global__ void stencil_3d_kernel(const {{type}}* x, {{type}}* y, float centre, float side, int depth,
                                  int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int d = blockIdx.z;
  if (r < rows && c < cols) {
    int plane = rows * cols;
    int i = d * plane + r * cols + c;
    if (d > 0 && d < depth - 1 && r > 0 && r < rows - 1 && c > 0 && c < cols - 1) {
      y[i] = centre * x[i] + side * (x[i - 1] + x[i + 1] + x[i - cols] + x[i + cols] +
                                     x[i - plane] + x[i + plane]);
    } else {
      y[i] = x[i];
    }
  }
}

extern "C" void stencil_3d(const {{type}}* x, {{type}}* y, float centre, float side, int depth, int rows,
                           int cols) {
  dim3 block(32, 8);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y, depth);
  stencil_3d_kernel<<<grid, block>>>(x, y, centre, side, depth, rows, cols);
}
