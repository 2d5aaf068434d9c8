// What transpose must compute.
#include <cstdint>

extern "C" void transpose_reference_range(int64_t begin, int64_t end, const float* in, double* out,
                                          int rows, int cols) {
  for (int64_t i = begin; i < end; ++i) {
    out[i] = in[i % rows * cols + i / rows];
  }
}

extern "C" void transpose_reference(const float* in, double* out, int rows, int cols) {
  transpose_reference_range(0, int64_t(rows) * cols, in, out, rows, cols);
}
