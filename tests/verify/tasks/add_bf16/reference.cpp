extern "C" void add_bf16_reference(const double* x, const double* bias, double* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      y[long(r) * cols + c] = x[long(r) * cols + c] + bias[c];
    }
  }
}
