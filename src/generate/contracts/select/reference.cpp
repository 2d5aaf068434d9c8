// What select must compute.
#include <cstdint>

extern "C" void select_reference_range(int64_t begin, int64_t end, const uint8_t* mask,
                                       const double* x, const double* y, double* z, int n) {
  (void)n;
  for (int64_t i = begin; i < end; ++i) {
    z[i] = mask[i] != 0 ? x[i] : y[i];
  }
}

extern "C" void select_reference(const uint8_t* mask, const double* x, const double* y, double* z,
                                 int n) {
  select_reference_range(0, n, mask, x, y, z, n);
}
