// What depthwise_conv2d must compute, in double.
#include <cstdint>

extern "C" void depthwise_conv2d_reference(const double* in, const double* weights, double* out,
                                           int images, int channels, int height, int width,
                                           int size) {
  for (int64_t plane = 0; plane < int64_t(images) * channels; ++plane) {
    const double* window = weights + plane % channels * size * size;
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        double sum = 0;
        for (int i = 0; i < size; ++i) {
          for (int j = 0; j < size; ++j) {
            const int64_t from_y = y + i - size / 2;
            const int64_t from_x = x + j - size / 2;
            if (from_y >= 0 && from_y < height && from_x >= 0 && from_x < width) {
              sum += in[(plane * height + from_y) * width + from_x] * window[i * size + j];
            }
          }
        }
        out[(plane * height + y) * width + x] = sum;
      }
    }
  }
}
