// What reverse must compute.
#include <cstdint>

extern "C" void reverse_reference(const {{ref}}* x, {{ref}}* y, int n) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = x[n - 1 - i];
  }
}
