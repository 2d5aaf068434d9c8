// What rgb_to_gray must compute, in double.
#include <cstdint>

extern "C" void rgb_to_gray_reference_range(int64_t begin, int64_t end, const float* rgb,
                                            double* gray, int pixels) {
  (void)pixels;
  for (int64_t p = begin; p < end; ++p) {
    gray[p] = 0.299 * rgb[3 * p] + 0.587 * rgb[3 * p + 1] + 0.114 * rgb[3 * p + 2];
  }
}

extern "C" void rgb_to_gray_reference(const float* rgb, double* gray, int pixels) {
  rgb_to_gray_reference_range(0, pixels, rgb, gray, pixels);
}
