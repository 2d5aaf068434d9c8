// task: relu
// launcher: recorded
// Instances of a template in a std::array of function pointers.
#include <array>
#include <functional>
template <int ITEMS>
__global__ void k(const float* x, float* y, int n) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
#pragma unroll
  for (int i = first; i < first + ITEMS; ++i)
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

using Kernel = void (*)(const float*, float*, int);
struct Entry {
  Kernel kernel;
  int items;
};
extern "C" void relu(const float* x, float* y, int n) {
  const std::array<Entry, 3> table = {{{k<1>, 1}, {k<2>, 2}, {k<4>, 4}}};
  std::function<const Entry&(int)> choose = [&](int size) -> const Entry& {
    return table.at(size % 3);
  };
  const Entry& chosen = choose(n);
  const int work = (n + chosen.items - 1) / chosen.items;
  chosen.kernel<<<(work + 127) / 128, 128>>>(x, y, n);
}
