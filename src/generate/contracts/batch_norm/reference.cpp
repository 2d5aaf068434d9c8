// What batch_norm must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void batch_norm_reference(const double* x, const double* mean, const double* variance,
                                     const double* gamma, const double* beta, double* y, int images,
                                     int channels, int height, int width, float eps) {
  const int64_t plane = int64_t(height) * width;
  for (int64_t i = 0; i < images * channels * plane; ++i) {
    const int64_t c = i / plane % channels;
    y[i] = (x[i] - mean[c]) / std::sqrt(variance[c] + double(eps)) * gamma[c] + beta[c];
  }
}
