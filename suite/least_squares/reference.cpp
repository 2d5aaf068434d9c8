// What least_squares must compute, in double: the normal equations, solved by elimination with
// pivots.
#include <cmath>
#include <utility>
#include <vector>

extern "C" void least_squares_reference(const float* x, const float* y, double* beta, float*,
                                        float*, int samples, int features) {
  const int width = features + 1;  // the right side is the last column
  std::vector<double> a(size_t(features) * width);
  for (int r = 0; r < samples; ++r) {
    const float* row = x + size_t(r) * features;
    for (int i = 0; i < features; ++i) {
      for (int j = 0; j < features; ++j) {
        a[i * width + j] += double(row[i]) * row[j];
      }
      a[i * width + features] += double(row[i]) * y[r];
    }
  }
  for (int k = 0; k < features; ++k) {
    int pivot = k;
    for (int i = k + 1; i < features; ++i) {
      if (std::fabs(a[i * width + k]) > std::fabs(a[pivot * width + k])) {
        pivot = i;
      }
    }
    for (int j = 0; j < width; ++j) {
      std::swap(a[k * width + j], a[pivot * width + j]);
    }
    for (int i = k + 1; i < features; ++i) {
      const double factor = a[i * width + k] / a[k * width + k];
      for (int j = k; j < width; ++j) {
        a[i * width + j] -= factor * a[k * width + j];
      }
    }
  }
  for (int i = features - 1; i >= 0; --i) {
    double rest = a[i * width + features];
    for (int j = i + 1; j < features; ++j) {
      rest -= a[i * width + j] * beta[j];
    }
    beta[i] = rest / a[i * width + i];
  }
}
