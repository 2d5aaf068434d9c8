// b[r][c] = a[r][c]: one thread per element.

__global__ void matrix_copy_kernel(const float* a, float* b, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    b[r * cols + c] = a[r * cols + c];
  }
}

extern "C" void matrix_copy(const float* a, float* b, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  matrix_copy_kernel<<<grid, block>>>(a, b, rows, cols);
}
