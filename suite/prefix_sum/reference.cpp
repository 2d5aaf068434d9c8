// What prefix_sum must compute, in double.

extern "C" void prefix_sum_reference(const float* x, double* y, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    y[i] = sum;
  }
}
