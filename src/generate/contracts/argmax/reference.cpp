// What {{name}} must compute.
#include <cstdint>

extern "C" void {{name}}_reference(const double* x, int32_t* index, const void* values,
                                   const void* indices, int n) {
  (void)values;
  (void)indices;
  int best = 0;
  for (int i = 1; i < n; ++i) {
    if (x[i] {{kind.better}} x[best]) {
      best = i;
    }
  }
  index[0] = best;
}
