// What transpose must compute.

extern "C" void transpose_reference(const float* in, double* out, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      out[c * rows + r] = in[r * cols + c];
    }
  }
}
