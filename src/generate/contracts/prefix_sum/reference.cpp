// What {{name}} must compute, in double.

extern "C" void {{name}}_reference(const double* x, double* y, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    {{kind.host_before}}
    sum += x[i];
    {{kind.host_after}}
  }
}
