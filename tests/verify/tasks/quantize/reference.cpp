#include <algorithm>
#include <cmath>
#include <cstdint>

extern "C" void quantize_reference(const float* x, int8_t* q, float scale, int n) {
  for (int i = 0; i < n; ++i) {
    q[i] = int8_t(std::min(std::max(std::nearbyintf(x[i] * scale), -128.0f), 127.0f));
  }
}
