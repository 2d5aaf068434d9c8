// What batched_matmul must compute, in double.
#include <cstdint>

extern "C" void batched_matmul_reference_range(int64_t begin, int64_t end, const double* a,
                                               const double* b, double* c, int batch, int m, int n,
                                               int k) {
  (void)batch;
  for (int64_t e = begin; e < end; ++e) {
    const int64_t t = e / n / m;
    const int64_t i = e / n % m;
    const int64_t j = e % n;
    double sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      sum += a[(t * m + i) * k + p] * b[(t * k + p) * n + j];
    }
    c[e] = sum;
  }
}

extern "C" void batched_matmul_reference(const double* a, const double* b, double* c, int batch,
                                         int m, int n, int k) {
  batched_matmul_reference_range(0, int64_t(batch) * m * n, a, b, c, batch, m, n, k);
}
