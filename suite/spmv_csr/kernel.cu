// y = A x for a sparse matrix in CSR form: row r holds values[k] in column columns[k] for k from
// offsets[r] to offsets[r + 1] - 1. One thread per row.

__global__ void spmv_csr_kernel(const long long* offsets, const long long* columns,
                                const float* values, const float* x, float* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float sum = 0.0f;
    for (long long k = offsets[r]; k < offsets[r + 1]; ++k) {
      sum += values[k] * x[columns[k]];
    }
    y[r] = sum;
  }
}

extern "C" void spmv_csr(const long long* offsets, const long long* columns, const float* values,
                         const float* x, float* y, int rows) {
  int block = 256;
  int grid = (rows + block - 1) / block;
  spmv_csr_kernel<<<grid, block>>>(offsets, columns, values, x, y, rows);
}
