#include <cstdlib>

extern "C" void kmeans_reference(const int* x, int* cluster, int n) {
  int centre[8];
  for (int k = 0; k < 8; ++k) centre[k] = 128 * k;
  for (int i = 0; i < n; ++i) cluster[i] = -1;
  bool moved = true;
  for (int round = 0; round < 64 && moved; ++round) {
    moved = false;
    long long sum[8] = {};
    int count[8] = {};
    for (int i = 0; i < n; ++i) {
      int best = 0;
      for (int k = 1; k < 8; ++k) {
        if (std::abs(x[i] - centre[k]) < std::abs(x[i] - centre[best])) best = k;
      }
      moved |= cluster[i] != best;
      cluster[i] = best;
      sum[best] += x[i];
      ++count[best];
    }
    for (int k = 0; k < 8; ++k) {
      if (count[k] > 0) centre[k] = int(sum[k] / count[k]);
    }
  }
}
