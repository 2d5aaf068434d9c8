// What dot must compute, in double.

extern "C" void dot_reference(const double* x, const double* y, double* result, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[i] * y[i];
  }
  result[0] = sum;
}
