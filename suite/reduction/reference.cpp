// What reduction must compute, in double.

extern "C" void reduction_reference(const float* x, double* sum, int n) {
  double total = 0;
  for (int i = 0; i < n; ++i) {
    total += x[i];
  }
  *sum = total;
}
