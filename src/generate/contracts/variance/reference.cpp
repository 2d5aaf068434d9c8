// What {{name}} must compute, in double.
#include <cmath>
using std::sqrt;

extern "C" void {{name}}_reference(const double* x, double* result, const void*, const void*, int n) {
  double mean = 0;
  for (int i = 0; i < n; ++i) {
    mean += x[i] / n;
  }
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += (x[i] - mean) * (x[i] - mean);
  }
  result[0] = {{kind.root}};
}
