// What moving_average must compute, in double.
#include <algorithm>
#include <cstdint>

extern "C" void moving_average_reference(const double* x, double* y, int n, int window) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = std::max<int64_t>(0, i - window / 2);
    const int64_t end = std::min<int64_t>(n, i - window / 2 + window);
    double sum = 0;
    for (int64_t from = begin; from < end; ++from) {
      sum += x[from];
    }
    y[i] = sum / double(end - begin);
  }
}
