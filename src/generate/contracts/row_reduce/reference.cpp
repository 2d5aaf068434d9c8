// What {{name}} must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void {{name}}_reference_range(int64_t begin, int64_t end, const double* x, double* y,
                                         int rows, int cols) {
  (void)rows;
  for (int64_t r = begin; r < end; ++r) {
    double result = {{op.start}};
    for (int c = 0; c < cols; ++c) {
      const double v = x[r * cols + c];
      result = {{op.combine}};
    }
    y[r] = {{op.finish}};
  }
}

extern "C" void {{name}}_reference(const double* x, double* y, int rows, int cols) {
  {{name}}_reference_range(0, rows, x, y, rows, cols);
}
