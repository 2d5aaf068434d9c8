// What rms_norm must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void rms_norm_reference(const double* x, const double* gamma, double* y, int rows,
                                   int cols, float eps) {
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int c = 0; c < cols; ++c) {
      squares += x[r * cols + c] * x[r * cols + c];
    }
    const double root = std::sqrt(squares / cols + double(eps));
    for (int c = 0; c < cols; ++c) {
      y[r * cols + c] = x[r * cols + c] / root * gamma[c];
    }
  }
}
