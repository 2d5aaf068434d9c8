// What {{name}} must compute, in double: {{op.title}} of each element.
#include <cmath>
#include <cstdint>

extern "C" void {{name}}_reference_range(int64_t begin, int64_t end, const double* x, double* y,
                                         int n) {
  (void)n;
  for (int64_t i = begin; i < end; ++i) {
    const double v = x[i];
    y[i] = {{op.reference}};
  }
}

extern "C" void {{name}}_reference(const double* x, double* y, int n) {
  {{name}}_reference_range(0, n, x, y, n);
}
