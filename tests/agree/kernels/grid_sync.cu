// n: 8192
// An inclusive scan over the whole grid, by doubling, with a barrier of the grid in each step.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void Scan(const unsigned* in, unsigned* out, unsigned* other, int n) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  unsigned* from = out;
  unsigned* to = other;
  from[i] = in[i];
  grid.sync();
  for (int step = 1; step < n; step *= 2) {
    to[i] = from[i] + (i >= step ? from[i - step] : 0);
    grid.sync();
    unsigned* swap = from;
    from = to;
    to = swap;
  }
  const unsigned result = from[i];
  grid.sync();
  out[i] = result;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned* other = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&other), n * sizeof(unsigned));
  void* arguments[] = {&in, &out, &other, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Scan), dim3(n / 256), dim3(256), arguments,
                              0, nullptr);
  cudaFree(other);
}
