// What conv2d must compute, in double.
#include <cstdint>

extern "C" void conv2d_reference_range(int64_t begin, int64_t end, const float* image,
                                       const float* kernel, double* out, int rows, int cols,
                                       int kernel_rows, int kernel_cols) {
  (void)rows;
  const int out_cols = cols - kernel_cols + 1;
  for (int64_t e = begin; e < end; ++e) {
    const int64_t r = e / out_cols;
    const int64_t c = e % out_cols;
    double sum = 0;
    for (int i = 0; i < kernel_rows; ++i) {
      for (int j = 0; j < kernel_cols; ++j) {
        sum += double(image[(r + i) * cols + c + j]) * kernel[i * kernel_cols + j];
      }
    }
    out[e] = sum;
  }
}

extern "C" void conv2d_reference(const float* image, const float* kernel, double* out, int rows,
                                 int cols, int kernel_rows, int kernel_cols) {
  const int64_t outputs = int64_t(rows - kernel_rows + 1) * (cols - kernel_cols + 1);
  conv2d_reference_range(0, outputs, image, kernel, out, rows, cols, kernel_rows, kernel_cols);
}
