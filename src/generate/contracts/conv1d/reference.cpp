// What conv1d must compute, in double.
#include <cstdint>

extern "C" void conv1d_reference(const double* x, const double* weights, double* y, int n, int taps) {
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int t = 0; t < taps; ++t) {
      const int64_t from = i + t - taps / 2;
      if (from >= 0 && from < n) {
        sum += x[from] * weights[t];
      }
    }
    y[i] = sum;
  }
}
