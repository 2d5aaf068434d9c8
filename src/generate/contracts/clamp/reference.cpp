// What clamp must compute, in double.
#include <algorithm>
#include <cstdint>

extern "C" void clamp_reference_range(int64_t begin, int64_t end, const double* x, double* y,
                                      float low, float high, int n) {
  (void)n;
  for (int64_t i = begin; i < end; ++i) {
    y[i] = std::min(std::max(x[i], double(low)), double(high));
  }
}

extern "C" void clamp_reference(const double* x, double* y, float low, float high, int n) {
  clamp_reference_range(0, n, x, y, low, high, n);
}
