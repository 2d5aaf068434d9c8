// What stencil_2d must compute, in double.
#include <cstdint>

extern "C" void stencil_2d_reference(const double* x, double* y, float centre, float side, int rows,
                                     int cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t i = r * cols + c;
      const bool inside = r > 0 && r < rows - 1 && c > 0 && c < cols - 1;
      y[i] = inside ? double(centre) * x[i] +
                          double(side) * (x[i - 1] + x[i + 1] + x[i - cols] + x[i + cols])
                    : x[i];
    }
  }
}
