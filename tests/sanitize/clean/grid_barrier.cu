// Two phases with a barrier of the whole grid in between.
// n: 1024
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void Reverse(const unsigned* in, unsigned* scratch, unsigned* out, int n) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  scratch[i] = 3 * in[i];
  grid.sync();
  out[i] = scratch[n - 1 - i];
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned* scratch = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&scratch), n * sizeof(unsigned));
  void* arguments[] = {&in, &scratch, &out, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Reverse), dim3(n / 128), dim3(128), arguments,
                              0, nullptr);
  cudaFree(scratch);
}
