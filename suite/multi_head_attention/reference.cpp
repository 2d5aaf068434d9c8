// What multi_head_attention must compute, in double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void multi_head_attention_reference_range(int64_t begin, int64_t end, const float* q,
                                                     const float* k, const float* v, double* out,
                                                     const void* scores, int batch, int heads,
                                                     int length, int dim) {
  (void)scores;
  (void)batch;
  (void)heads;
  std::vector<double> weights(
      length);  // of one query: exp(score - largest score), not divided by their sum
  double total = 0;
  int64_t query = -1;  // of all heads below each other
  for (int64_t e = begin; e < end; ++e) {
    const int64_t first_key = e / dim / length * length;
    if (e / dim != query) {
      query = e / dim;
      for (int j = 0; j < length; ++j) {
        double sum = 0;
        for (int d = 0; d < dim; ++d) {
          sum += double(q[query * dim + d]) * k[(first_key + j) * dim + d];
        }
        weights[j] = sum / std::sqrt(double(dim));
      }
      const double largest = *std::max_element(weights.begin(), weights.end());
      total = 0;
      for (double& weight : weights) {
        weight = std::exp(weight - largest);
        total += weight;
      }
    }
    double sum = 0;
    for (int j = 0; j < length; ++j) {
      sum += weights[j] * v[(first_key + j) * dim + e % dim];
    }
    out[e] = sum / total;
  }
}

extern "C" void multi_head_attention_reference(const float* q, const float* k, const float* v,
                                               double* out, const void* scores, int batch,
                                               int heads, int length, int dim) {
  multi_head_attention_reference_range(0, int64_t(batch) * heads * length * dim, q, k, v, out,
                                       scores, batch, heads, length, dim);
}
