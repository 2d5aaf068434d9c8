// What {{name}} must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void {{name}}_reference_range(int64_t begin, int64_t end, const double* x,
                                         const double* bias, double* y, int rows, int cols) {
  (void)rows;
  for (int64_t i = begin; i < end; ++i) {
    const double v = x[i] + bias[i % cols];
    y[i] = {{op.reference}};
  }
}

extern "C" void {{name}}_reference(const double* x, const double* bias, double* y, int rows,
                                   int cols) {
  {{name}}_reference_range(0, int64_t(rows) * cols, x, bias, y, rows, cols);
}
