// What conv2d_channels must compute, in double.
#include <cstdint>

extern "C" void conv2d_channels_reference_range(int64_t begin, int64_t end, const double* in,
                                                const double* weights, double* out, int images,
                                                int channels, int filters, int height, int width,
                                                int size) {
  (void)images;
  for (int64_t e = begin; e < end; ++e) {
    const int64_t x = e % width;
    const int64_t y = e / width % height;
    const int64_t filter = e / width / height % filters;
    const int64_t image = e / width / height / filters;
    double sum = 0;
    for (int channel = 0; channel < channels; ++channel) {
      const double* plane = in + (image * channels + channel) * height * width;
      const double* window = weights + (filter * channels + channel) * size * size;
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
          const int64_t from_y = y + i - size / 2;
          const int64_t from_x = x + j - size / 2;
          if (from_y >= 0 && from_y < height && from_x >= 0 && from_x < width) {
            sum += plane[from_y * width + from_x] * window[i * size + j];
          }
        }
      }
    }
    out[e] = sum;
  }
}

extern "C" void conv2d_channels_reference(const double* in, const double* weights, double* out,
                                          int images, int channels, int filters, int height,
                                          int width, int size) {
  conv2d_channels_reference_range(0, int64_t(images) * filters * height * width, in, weights, out,
                                  images, channels, filters, height, width, size);
}
