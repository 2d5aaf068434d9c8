// What outer_product must compute, in double.
#include <cstdint>

extern "C" void outer_product_reference(const double* x, const double* y, double* a, int rows,
                                        int cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      a[r * cols + c] = x[r] * y[c];
    }
  }
}
