// What gemv must compute, in double.
#include <cstdint>

extern "C" void gemv_reference_range(int64_t begin, int64_t end, const double* a, const double* x,
                                     double* y, int rows, int cols) {
  (void)rows;
  for (int64_t r = begin; r < end; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) {
      sum += a[r * cols + c] * x[c];
    }
    y[r] = sum;
  }
}

extern "C" void gemv_reference(const double* a, const double* x, double* y, int rows, int cols) {
  gemv_reference_range(0, rows, a, x, y, rows, cols);
}
