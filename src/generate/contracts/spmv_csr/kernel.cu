// y = A x: row r of A holds values[p] in column columns[p] for p from offsets[r] to offsets[r + 1] - 1.
// One thread per row.

__global__ void spmv_csr_kernel(const int* offsets, const int* columns, const {{type}}* values,
                                const {{type}}* x, {{type}}* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    {{type}} sum = 0;
    for (int p = offsets[r]; p < offsets[r + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[r] = sum;
  }
}

extern "C" void spmv_csr(const int* offsets, const int* columns, const {{type}}* values, const {{type}}* x,
                         {{type}}* y, int rows) {
  int block = 256;
  int grid = (rows + block - 1) / block;
  spmv_csr_kernel<<<grid, block>>>(offsets, columns, values, x, y, rows);
}
