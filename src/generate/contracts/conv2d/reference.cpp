// What conv2d must compute, in double.
#include <cstdint>

extern "C" void conv2d_reference(const double* image, const double* weights, double* out, int rows,
                                 int cols, int size) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      double sum = 0;
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
          const int64_t y = r + i - size / 2;
          const int64_t x = c + j - size / 2;
          if (y >= 0 && y < rows && x >= 0 && x < cols) {
            sum += image[y * cols + x] * weights[i * size + j];
          }
        }
      }
      out[r * cols + c] = sum;
    }
  }
}
