// What {{name}} must compute, in double.
#include <algorithm>
#include <cmath>
#include <cstdint>

extern "C" void {{name}}_reference(const double* x, double* y, int rows, int cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const double* row = x + r * cols;
    const double largest = *std::max_element(row, row + cols);
    double sum = 0;
    for (int c = 0; c < cols; ++c) {
      sum += std::exp(row[c] - largest);
    }
    for (int c = 0; c < cols; ++c) {
      const double v = row[c];
      y[r * cols + c] = {{kind.reference}};
    }
  }
}
