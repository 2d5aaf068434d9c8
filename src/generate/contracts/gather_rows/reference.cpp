// What gather_rows must compute.
#include <cstdint>

extern "C" void gather_rows_reference(const double* table, const int32_t* indices, double* out,
                                      int rows, int cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      out[r * cols + c] = table[int64_t(indices[r]) * cols + c];
    }
  }
}
