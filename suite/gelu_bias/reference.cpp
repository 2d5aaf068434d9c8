// What gelu_bias must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void gelu_bias_reference_range(int64_t begin, int64_t end, const float* x,
                                          const float* bias, double* y, int rows, int cols) {
  (void)rows;
  const double factor = std::sqrt(2 / std::acos(-1.0));
  for (int64_t i = begin; i < end; ++i) {
    const double v = double(x[i]) + bias[i % cols];
    y[i] = 0.5 * v * (1 + std::tanh(factor * (v + 0.044715 * v * v * v)));
  }
}

extern "C" void gelu_bias_reference(const float* x, const float* bias, double* y, int rows,
                                    int cols) {
  gelu_bias_reference_range(0, int64_t(rows) * cols, x, bias, y, rows, cols);
}
