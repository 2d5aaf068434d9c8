// What {{name}} must compute.
#include <cstdint>

extern "C" void {{name}}_reference(const double* x, int32_t* index, int rows, int cols) {
  for (int64_t r = 0; r < rows; ++r) {
    int best = 0;
    for (int c = 1; c < cols; ++c) {
      if (x[r * cols + c] {{kind.better}} x[r * cols + best]) {
        best = c;
      }
    }
    index[r] = best;
  }
}
