// What {{name}} must compute, in double.
#include <cmath>

extern "C" void {{name}}_reference(const double* x, double* result, const void* shares, int n) {
  (void)shares;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double v = x[i];
    sum += {{kind.term}};
  }
  result[0] = {{kind.finish}};
}
