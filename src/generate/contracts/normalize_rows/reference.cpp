// What normalize_rows must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void normalize_rows_reference(const double* x, double* y, int rows, int cols) {
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int c = 0; c < cols; ++c) {
      squares += x[r * cols + c] * x[r * cols + c];
    }
    for (int c = 0; c < cols; ++c) {
      y[r * cols + c] = x[r * cols + c] / std::sqrt(squares);
    }
  }
}
