// What stencil_3d must compute, in double.
#include <cstdint>

extern "C" void stencil_3d_reference(const double* x, double* y, float centre, float side,
                                     int depth, int rows, int cols) {
  const int64_t plane = int64_t(rows) * cols;
  for (int64_t d = 0; d < depth; ++d) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) {
        const int64_t i = d * plane + r * cols + c;
        const bool inside =
            d > 0 && d < depth - 1 && r > 0 && r < rows - 1 && c > 0 && c < cols - 1;
        y[i] = inside ? double(centre) * x[i] +
                            double(side) * (x[i - 1] + x[i + 1] + x[i - cols] + x[i + cols] +
                                            x[i - plane] + x[i + plane])
                      : x[i];
      }
    }
  }
}
