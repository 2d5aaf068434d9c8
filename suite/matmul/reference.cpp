// What matmul must compute, in double.
#include <cstdint>

extern "C" void matmul_reference_range(int64_t begin, int64_t end, const float* a, const float* b,
                                       double* c, int m, int n, int k) {
  (void)m;
  for (int64_t e = begin; e < end; ++e) {
    const int64_t i = e / n;
    const int64_t j = e % n;
    double sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      sum += double(a[i * k + p]) * b[p * n + j];
    }
    c[e] = sum;
  }
}

extern "C" void matmul_reference(const float* a, const float* b, double* c, int m, int n, int k) {
  matmul_reference_range(0, int64_t(m) * n, a, b, c, m, n, k);
}
