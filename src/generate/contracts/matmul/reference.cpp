// What {{name}} must compute, in double.
#include <cstdint>

extern "C" void {{name}}_reference_range(int64_t begin, int64_t end, const double* a,
                                         const double* b, double* c, int m, int n, int k) {
  (void)m;
  for (int64_t e = begin; e < end; ++e) {
    const int64_t i = e / n;
    const int64_t j = e % n;
    double sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      sum += {{form.a}} * {{form.b}};
    }
    c[e] = sum;
  }
}

extern "C" void {{name}}_reference(const double* a, const double* b, double* c, int m, int n, int k) {
  {{name}}_reference_range(0, int64_t(m) * n, a, b, c, m, n, k);
}
