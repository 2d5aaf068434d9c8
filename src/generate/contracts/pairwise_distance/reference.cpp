// What pairwise_distance must compute, in double.
#include <cstdint>

extern "C" void pairwise_distance_reference(const double* x, const double* y, double* out, int m,
                                            int n, int dim) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int d = 0; d < dim; ++d) {
        const double difference = x[i * dim + d] - y[j * dim + d];
        sum += difference * difference;
      }
      out[i * n + j] = sum;
    }
  }
}
