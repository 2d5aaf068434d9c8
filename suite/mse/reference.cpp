// What mse must compute, in double.

extern "C" void mse_reference(const float* x, const float* y, double* error, int n) {
  double total = 0;
  for (int i = 0; i < n; ++i) {
    const double d = double(x[i]) - y[i];
    total += d * d;
  }
  *error = total / n;
}
