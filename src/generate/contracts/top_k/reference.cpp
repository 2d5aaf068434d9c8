// What top_k must compute.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

extern "C" void top_k_reference(const float* x, double* values, int32_t* indices,
                                const void* /*values_a*/, const void* /*indices_a*/,
                                const void* /*values_b*/, const void* /*indices_b*/, int n, int k) {
  std::vector<int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [x](int32_t a, int32_t b) { return x[a] > x[b]; });
  for (int i = 0; i < k; ++i) {
    values[i] = x[order[i]];
    indices[i] = order[i];
  }
}
