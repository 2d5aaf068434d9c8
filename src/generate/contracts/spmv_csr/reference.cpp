// What spmv_csr must compute, in double.
#include <cstdint>

extern "C" void spmv_csr_reference(const int32_t* offsets, const int32_t* columns,
                                   const double* values, const double* x, double* y, int rows) {
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int p = offsets[r]; p < offsets[r + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[r] = sum;
  }
}
