// What life must compute.
#include <cstdint>

extern "C" void life_reference(const uint8_t* x, uint8_t* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      int neighbours = -x[r * cols + c];
      for (int i = r - 1; i <= r + 1; ++i) {
        for (int j = c - 1; j <= c + 1; ++j) {
          neighbours += x[(i + rows) % rows * cols + (j + cols) % cols];
        }
      }
      y[r * cols + c] = neighbours == 3 || (neighbours == 2 && x[r * cols + c] == 1) ? 1 : 0;
    }
  }
}
