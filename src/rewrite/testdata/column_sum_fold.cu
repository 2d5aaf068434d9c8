
// column_sum_kernel: a block takes 32 neighbouring columns; 16 threads share a column and combine
// what they found in shared memory.
__global__ void __launch_bounds__(512) column_sum_kernel(const float* __restrict__ x,
    float* __restrict__ y, int rows, int cols) {
  constexpr int kColumns = 32;
  constexpr int kSlices = 16;
  const int c_of_thread = blockIdx.x * kColumns + threadIdx.x;
  // Threads beyond the last column repeat it and store nothing.
  const bool inside = c_of_thread < cols;
  const int c = inside ? c_of_thread : cols - 1;
  float s = 0.0f;
  for (int r = threadIdx.y; r < rows; r += kSlices) {
    s += x[r * cols + c];
  }
  __shared__ float s_of_slice[kSlices][kColumns];
  s_of_slice[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  s = 0.0f;
  for (int slice = 0; slice < kSlices; ++slice) {
    s += s_of_slice[slice][threadIdx.x];
  }
  if (inside && threadIdx.y == 0) {
    y[c] = s;
  }
}

// Launches column_sum_kernel with one block for 32 columns.
static void launch_column_sum_kernel(const float* x, float* y, int rows, int cols) {
  if (cols <= 0) {
    return;
  }
  column_sum_kernel<<<(cols + 31) / 32, dim3(32, 16)>>>(x, y, rows, cols);
}
extern "C" void column_sum(const float* x, float* y, int rows, int cols) {
  launch_column_sum_kernel(x, y, rows, cols);
}
