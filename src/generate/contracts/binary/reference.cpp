// What {{name}} must compute, in double.
#include <cstdint>

extern "C" void {{name}}_reference_range(int64_t begin, int64_t end, const double* x,
                                         const double* y, double* z, int n) {
  (void)n;
  for (int64_t i = begin; i < end; ++i) {
    const double v = x[i];
    const double w = y[i];
    z[i] = {{op.reference}};
  }
}

extern "C" void {{name}}_reference(const double* x, const double* y, double* z, int n) {
  {{name}}_reference_range(0, n, x, y, z, n);
}
