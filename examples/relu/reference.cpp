// What relu must compute. Outputs are double: the check knows how far float may be from it.

extern "C" void relu_reference(const float* x, double* y, int n) {
  for (int i = 0; i < n; ++i) {
    y[i] = x[i] > 0 ? x[i] : 0;
  }
}
