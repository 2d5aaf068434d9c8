// What monte_carlo must compute, in double.
#include <cmath>

extern "C" void monte_carlo_reference(const float* samples, double* integral, double low,
                                      double high, int n) {
  const double two_pi = 2 * std::acos(-1.0);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += std::sin(two_pi * (low + (high - low) * samples[i]));
  }
  *integral = sum * (high - low) / n;
}
