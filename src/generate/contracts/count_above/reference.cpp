// What count_above must compute.
#include <cstdint>

extern "C" void count_above_reference(const double* x, int32_t* count, float threshold, int n) {
  int found = 0;
  for (int i = 0; i < n; ++i) {
    found += x[i] > threshold ? 1 : 0;
  }
  count[0] = found;
}
