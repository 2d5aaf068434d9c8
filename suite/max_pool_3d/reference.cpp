// What max_pool_3d must compute.
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace {

// Windows along an extent.
int Windows(int extent, int kernel, int stride, int padding, int dilation) {
  return (extent + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

}  // namespace

extern "C" void max_pool_3d_reference_range(int64_t begin, int64_t end, const float* x, double* y,
                                            int batch, int channels, int depth, int height,
                                            int width, int kernel, int stride, int padding,
                                            int dilation) {
  (void)batch;
  (void)channels;
  const int out_depth = Windows(depth, kernel, stride, padding, dilation);
  const int out_height = Windows(height, kernel, stride, padding, dilation);
  const int out_width = Windows(width, kernel, stride, padding, dilation);
  for (int64_t e = begin; e < end; ++e) {
    const int64_t first_w = e % out_width * stride - padding;
    const int64_t first_h = e / out_width % out_height * stride - padding;
    const int64_t first_d = e / out_width / out_height % out_depth * stride - padding;
    const int64_t plane = e / out_width / out_height / out_depth;
    double largest = -INFINITY;
    for (int i = 0; i < kernel; ++i) {
      for (int j = 0; j < kernel; ++j) {
        for (int k = 0; k < kernel; ++k) {
          const int64_t d = first_d + i * dilation;
          const int64_t h = first_h + j * dilation;
          const int64_t w = first_w + k * dilation;
          if (d >= 0 && d < depth && h >= 0 && h < height && w >= 0 && w < width) {
            largest = std::max<double>(largest, x[((plane * depth + d) * height + h) * width + w]);
          }
        }
      }
    }
    y[e] = largest;
  }
}

extern "C" void max_pool_3d_reference(const float* x, double* y, int batch, int channels, int depth,
                                      int height, int width, int kernel, int stride, int padding,
                                      int dilation) {
  const int64_t outputs = int64_t(batch) * channels *
                          Windows(depth, kernel, stride, padding, dilation) *
                          Windows(height, kernel, stride, padding, dilation) *
                          Windows(width, kernel, stride, padding, dilation);
  max_pool_3d_reference_range(0, outputs, x, y, batch, channels, depth, height, width, kernel,
                              stride, padding, dilation);
}
