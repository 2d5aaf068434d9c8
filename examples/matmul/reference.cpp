// What matmul must compute, in double.

extern "C" void matmul_reference(const float* a, const float* b, double* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) {
        sum += double(a[i * k + p]) * b[p * n + j];
      }
      c[i * n + j] = sum;
    }
  }
}
