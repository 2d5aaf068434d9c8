// What matmul_f16 must compute, in double.
#include <cstdint>

extern "C" void matmul_f16_reference_range(int64_t begin, int64_t end, const double* a,
                                           const double* b, double* c, int m, int n, int k) {
  (void)m;
  for (int64_t e = begin; e < end; ++e) {
    const int64_t i = e / n;
    const int64_t j = e % n;
    double sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      sum += a[i * k + p] * b[p * n + j];
    }
    c[e] = sum;
  }
}

extern "C" void matmul_f16_reference(const double* a, const double* b, double* c, int m, int n,
                                     int k) {
  matmul_f16_reference_range(0, int64_t(m) * n, a, b, c, m, n, k);
}
