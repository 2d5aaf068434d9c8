// What {{name}} must compute, in double.

extern "C" void {{name}}_reference(const double* x, const double* y, double* result, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double d = x[i] - y[i];
    sum += {{kind.term}};
  }
  result[0] = sum / n;
}
