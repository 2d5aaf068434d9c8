// What copy must compute.
#include <cstdint>

extern "C" void copy_reference_range(int64_t begin, int64_t end, const {{ref}}* x, {{ref}}* y,
                                     int n) {
  (void)n;
  for (int64_t i = begin; i < end; ++i) {
    y[i] = x[i];
  }
}

extern "C" void copy_reference(const {{ref}}* x, {{ref}}* y, int n) {
  copy_reference_range(0, n, x, y, n);
}
