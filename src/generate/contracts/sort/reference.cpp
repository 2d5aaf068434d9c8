// What {{name}} must compute.
#include <algorithm>
#include <cstdint>

extern "C" void {{name}}_reference(const {{ref}}* x, {{ref}}* y, int n) {
  std::copy(x, x + n, y);
  std::sort(y, y + n, []({{ref}} a, {{ref}} b) { return a {{order.less}} b; });
}
