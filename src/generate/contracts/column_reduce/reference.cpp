// What {{name}} must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void {{name}}_reference_range(int64_t begin, int64_t end, const double* x, double* y,
                                         int rows, int cols) {
  for (int64_t c = begin; c < end; ++c) {
    double result = {{op.start}};
    for (int r = 0; r < rows; ++r) {
      const double v = x[int64_t(r) * cols + c];
      result = {{op.combine}};
    }
    y[c] = {{op.finish}};
  }
}

extern "C" void {{name}}_reference(const double* x, double* y, int rows, int cols) {
  {{name}}_reference_range(0, cols, x, y, rows, cols);
}
