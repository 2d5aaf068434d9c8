// What scatter_add must compute, in double.
#include <cstdint>

extern "C" void scatter_add_reference(const double* x, const int32_t* index, double* y, int n) {
  for (int i = 0; i < n; ++i) {
    y[index[i]] += x[i];
  }
}
