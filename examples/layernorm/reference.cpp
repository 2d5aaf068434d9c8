// What layernorm must compute, in double.
#include <cmath>

extern "C" void layernorm_reference(const float* x, const float* gamma, const float* beta, double* y,
                                    int rows, int cols, float eps) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    double mean = 0;
    for (int c = 0; c < cols; ++c) {
      mean += row[c];
    }
    mean /= cols;
    double variance = 0;
    for (int c = 0; c < cols; ++c) {
      variance += (row[c] - mean) * (row[c] - mean);
    }
    variance /= cols;
    for (int c = 0; c < cols; ++c) {
      y[r * cols + c] = (row[c] - mean) / std::sqrt(variance + eps) * gamma[c] + beta[c];
    }
  }
}
