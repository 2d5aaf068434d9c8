#include <cstdint>

extern "C" void dot_i8_reference(const int8_t* a, const int8_t* b, int32_t* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    int32_t sum = 0;
    for (int c = 0; c < cols; ++c) {
      sum += int32_t(a[int64_t(r) * cols + c]) * b[c];
    }
    y[r] = sum;
  }
}
