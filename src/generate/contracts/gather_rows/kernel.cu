// out[r] = table[indices[r]]: one thread per element.

{{include}}__global__ void gather_rows_kernel(const {{type}}* table, const int* indices, {{type}}* out, int rows,
                                   int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    out[r * cols + c] = table[indices[r] * cols + c];
  }
}

extern "C" void gather_rows(const {{type}}* table, const int* indices, {{type}}* out, int rows, int cols) {
  dim3 block(32, 8);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  gather_rows_kernel<<<grid, block>>>(table, indices, out, rows, cols);
}
