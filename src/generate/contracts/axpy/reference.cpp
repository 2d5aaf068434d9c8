// What axpy must compute, in double.
#include <cstdint>

extern "C" void axpy_reference_range(int64_t begin, int64_t end, const double* x, double* y,
                                     float alpha, int n) {
  (void)n;
  for (int64_t i = begin; i < end; ++i) {
    y[i] += double(alpha) * x[i];
  }
}

extern "C" void axpy_reference(const double* x, double* y, float alpha, int n) {
  axpy_reference_range(0, n, x, y, alpha, n);
}
