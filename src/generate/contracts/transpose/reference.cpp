// What transpose must compute.
#include <cstdint>

extern "C" void transpose_reference(const {{ref}}* x, {{ref}}* y, int rows, int cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      y[c * rows + r] = x[r * cols + c];
    }
  }
}
