// y[r] = sum over c of a[r][c] * x[c]: one thread per row.

__global__ void gemv_kernel(const float* a, const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) {
      sum += a[r * cols + c] * x[c];
    }
    y[r] = sum;
  }
}

extern "C" void gemv(const float* a, const float* x, float* y, int rows, int cols) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  gemv_kernel<<<grid, block>>>(a, x, y, rows, cols);
}
