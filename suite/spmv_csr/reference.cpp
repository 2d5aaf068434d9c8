// What spmv_csr must compute, in double.
#include <cstdint>

extern "C" void spmv_csr_reference_range(int64_t begin, int64_t end, const int64_t* offsets,
                                         const int64_t* columns, const float* values,
                                         const float* x, double* y, int rows) {
  (void)rows;
  for (int64_t r = begin; r < end; ++r) {
    double sum = 0;
    for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
      sum += double(values[k]) * x[columns[k]];
    }
    y[r] = sum;
  }
}

extern "C" void spmv_csr_reference(const int64_t* offsets, const int64_t* columns,
                                   const float* values, const float* x, double* y, int rows) {
  spmv_csr_reference_range(0, rows, offsets, columns, values, x, y, rows);
}
