// What stencil2d must compute, in double.

constexpr int kRadius = 3;

extern "C" void stencil2d_reference(const float* in, const float* weights, double* out, int rows,
                                    int cols) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      double sum = 0;
      for (int dr = -kRadius; dr <= kRadius; ++dr) {
        for (int dc = -kRadius; dc <= kRadius; ++dc) {
          const bool inside = r + dr >= 0 && r + dr < rows && c + dc >= 0 && c + dc < cols;
          if (inside) {
            const float weight = weights[(dr + kRadius) * (2 * kRadius + 1) + dc + kRadius];
            sum += double(weight) * in[(r + dr) * cols + c + dc];
          }
        }
      }
      out[r * cols + c] = sum;
    }
  }
}
