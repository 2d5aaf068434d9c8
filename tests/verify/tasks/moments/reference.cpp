extern "C" void moments_reference(const float* x, double* mean, double* variance, int rows,
                                  int cols) {
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) {
      sum += x[r * cols + c];
    }
    mean[r] = sum / cols;
    double squares = 0;
    for (int c = 0; c < cols; ++c) {
      const double d = x[r * cols + c] - mean[r];
      squares += d * d;
    }
    variance[r] = squares / cols;
  }
}
