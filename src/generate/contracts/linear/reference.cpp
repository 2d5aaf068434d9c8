// What {{name}} must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void {{name}}_reference_range(int64_t begin, int64_t end, const double* x,
                                         const double* weights, const double* bias, double* y,
                                         int rows, int outputs, int inputs) {
  (void)rows;
  for (int64_t e = begin; e < end; ++e) {
    const int64_t r = e / outputs;
    const int64_t o = e % outputs;
    double sum = 0;
    for (int64_t p = 0; p < inputs; ++p) {
      sum += x[r * inputs + p] * weights[o * inputs + p];
    }
    const double v = sum + bias[o];
    y[e] = {{op.reference}};
  }
}

extern "C" void {{name}}_reference(const double* x, const double* weights, const double* bias,
                                   double* y, int rows, int outputs, int inputs) {
  {{name}}_reference_range(0, int64_t(rows) * outputs, x, weights, bias, y, rows, outputs, inputs);
}
