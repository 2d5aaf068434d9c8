// What {{name}} must compute, in double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void {{name}}_reference(const double* q, const double* k, const double* v, double* out,
                                   const void* scores, int batch, int heads, int length, int dim) {
  (void)scores;
  std::vector<double> weights(length);
  for (int64_t query = 0; query < int64_t(batch) * heads * length; ++query) {
    const int64_t first_key = query / length * length;
    const int i = int(query % length);
    (void)i;
    const int visible = {{kind.visible}};
    double largest = -INFINITY;
    for (int j = 0; j < visible; ++j) {
      double sum = 0;
      for (int d = 0; d < dim; ++d) {
        sum += q[query * dim + d] * k[(first_key + j) * dim + d];
      }
      weights[j] = sum / std::sqrt(double(dim));
      largest = std::max(largest, weights[j]);
    }
    double total = 0;
    for (int j = 0; j < visible; ++j) {
      weights[j] = std::exp(weights[j] - largest);
      total += weights[j];
    }
    for (int d = 0; d < dim; ++d) {
      double sum = 0;
      for (int j = 0; j < visible; ++j) {
        sum += weights[j] * v[(first_key + j) * dim + d];
      }
      out[query * dim + d] = sum / total;
    }
  }
}
