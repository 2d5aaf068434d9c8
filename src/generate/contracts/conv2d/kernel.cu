// out[r][c] = sum over i, j of image[r + i - size / 2][c + j - size / 2] * weights[i][j], the image zero
// outside: one thread per pixel.

__global__ void conv2d_kernel(const {{type}}* image, const {{type}}* weights, {{type}}* out, int rows, int cols,
                              int size) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    {{type}} sum = 0;
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        int y = r + i - size / 2;
        int x = c + j - size / 2;
        if (y >= 0 && y < rows && x >= 0 && x < cols) {
          sum += image[y * cols + x] * weights[i * size + j];
        }
      }
    }
    out[r * cols + c] = sum;
  }
}

extern "C" void conv2d(const {{type}}* image, const {{type}}* weights, {{type}}* out, int rows, int cols,
                       int size) {
  dim3 block(16, 16);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  conv2d_kernel<<<grid, block>>>(image, weights, out, rows, cols, size);
}
