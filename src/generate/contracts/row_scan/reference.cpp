// What {{name}} must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void {{name}}_reference(const double* x, double* y, int rows, int cols) {
  for (int64_t r = 0; r < rows; ++r) {
    double total = {{op.start}};
    for (int c = 0; c < cols; ++c) {
      total = {{op.combine}};
      y[r * cols + c] = total;
    }
  }
}
