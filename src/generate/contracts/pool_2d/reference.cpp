// What {{name}} must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void {{name}}_reference(const double* x, double* y, int images, int channels, int height,
                                   int width, int window, int stride) {
  const int64_t out_height = (height - window) / stride + 1;
  const int64_t out_width = (width - window) / stride + 1;
  for (int64_t index = 0; index < images * channels * out_height * out_width; ++index) {
    const int64_t c = index % out_width;
    const int64_t r = index / out_width % out_height;
    const int64_t plane = index / (out_width * out_height);
    double result = {{kind.start}};
    for (int i = 0; i < window; ++i) {
      for (int j = 0; j < window; ++j) {
        const double v = x[(plane * height + r * stride + i) * width + c * stride + j];
        result = {{kind.combine}};
      }
    }
    y[index] = {{kind.finish}};
  }
}
