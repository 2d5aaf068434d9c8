// What dot must compute, in double.

extern "C" void dot_reference(const float* x, const float* y, double* result, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += double(x[i]) * y[i];
  }
  *result = sum;
}
