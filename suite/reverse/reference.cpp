// What reverse must compute.
#include <cstdint>

extern "C" void reverse_reference_range(int64_t begin, int64_t end, const float* x, double* y,
                                        int n) {
  for (int64_t i = begin; i < end; ++i) {
    y[i] = x[n - 1 - i];
  }
}

extern "C" void reverse_reference(const float* x, double* y, int n) {
  reverse_reference_range(0, n, x, y, n);
}
