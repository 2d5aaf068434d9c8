// What global_average_pool must compute, in double.
#include <cstdint>

extern "C" void global_average_pool_reference(const double* x, double* y, int images, int channels,
                                              int height, int width) {
  const int64_t size = int64_t(height) * width;
  for (int64_t plane = 0; plane < int64_t(images) * channels; ++plane) {
    double sum = 0;
    for (int64_t i = 0; i < size; ++i) {
      sum += x[plane * size + i];
    }
    y[plane] = sum / size;
  }
}
