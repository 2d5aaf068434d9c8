// out[r][c] = sum over i, j of image[r + i][c + j] * kernel[i][j]: one thread per output.

__global__ void conv2d_kernel(const float* image, const float* kernel, float* out, int rows,
                              int cols, int kernel_rows, int kernel_cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int out_rows = rows - kernel_rows + 1;
  int out_cols = cols - kernel_cols + 1;
  if (r < out_rows && c < out_cols) {
    float sum = 0.0f;
    for (int i = 0; i < kernel_rows; ++i) {
      for (int j = 0; j < kernel_cols; ++j) {
        sum += image[(r + i) * cols + c + j] * kernel[i * kernel_cols + j];
      }
    }
    out[r * out_cols + c] = sum;
  }
}

extern "C" void conv2d(const float* image, const float* kernel, float* out, int rows, int cols,
                       int kernel_rows, int kernel_cols) {
  int out_rows = rows - kernel_rows + 1;
  int out_cols = cols - kernel_cols + 1;
  dim3 block(16, 16);
  dim3 grid((out_cols + block.x - 1) / block.x, (out_rows + block.y - 1) / block.y);
  conv2d_kernel<<<grid, block>>>(image, kernel, out, rows, cols, kernel_rows, kernel_cols);
}
