#include <vector>

// The same system, solved directly (Thomas).
extern "C" void jacobi_reference(const float* b, double* u, float, int n) {
  std::vector<double> c(n);
  double d = 4;
  c[0] = -1 / d;
  u[0] = b[0] / d;
  for (int i = 1; i < n; ++i) {
    d = 4 + c[i - 1];
    c[i] = -1 / d;
    u[i] = (b[i] + u[i - 1]) / d;
  }
  for (int i = n - 2; i >= 0; --i) u[i] -= c[i] * u[i + 1];
}
