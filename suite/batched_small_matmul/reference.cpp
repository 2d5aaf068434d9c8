// What batched_small_matmul must compute, in double.
#include <cstdint>

extern "C" void batched_small_matmul_reference_range(int64_t begin, int64_t end, const float* a,
                                                     const float* b, double* c, int batch, int m,
                                                     int n, int k) {
  (void)batch;
  for (int64_t e = begin; e < end; ++e) {
    const int64_t row = e / n;  // of all matrices a below each other
    const int64_t t = row / m;
    double sum = 0;
    for (int p = 0; p < k; ++p) {
      sum += double(a[row * k + p]) * b[(t * k + p) * n + e % n];
    }
    c[e] = sum;
  }
}

extern "C" void batched_small_matmul_reference(const float* a, const float* b, double* c, int batch,
                                               int m, int n, int k) {
  batched_small_matmul_reference_range(0, int64_t(batch) * m * n, a, b, c, batch, m, n, k);
}
