// What rms_norm must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void rms_norm_reference_range(int64_t begin, int64_t end, const float* x,
                                         const float* gamma, double* y, int rows, int cols,
                                         float eps) {
  (void)rows;
  int64_t row = -1;
  double scale = 0;
  for (int64_t i = begin; i < end; ++i) {
    if (i / cols != row) {
      row = i / cols;
      double squares = 0;
      for (int c = 0; c < cols; ++c) {
        squares += double(x[row * cols + c]) * x[row * cols + c];
      }
      scale = 1 / std::sqrt(squares / cols + eps);
    }
    y[i] = x[i] * scale * gamma[i % cols];
  }
}

extern "C" void rms_norm_reference(const float* x, const float* gamma, double* y, int rows,
                                   int cols, float eps) {
  rms_norm_reference_range(0, int64_t(rows) * cols, x, gamma, y, rows, cols, eps);
}
