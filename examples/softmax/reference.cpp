// What softmax must compute, in double.
#include <algorithm>
#include <cmath>

extern "C" void softmax_reference(const float* x, double* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    const double largest = *std::max_element(row, row + cols);
    double sum = 0;
    for (int c = 0; c < cols; ++c) {
      sum += std::exp(row[c] - largest);
    }
    for (int c = 0; c < cols; ++c) {
      y[r * cols + c] = std::exp(row[c] - largest) / sum;
    }
  }
}
