// task: mask
// Those whose element is above form a group, whose first thread adds for all of them.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const float* x, bool* above, unsigned long long* count, float threshold, int n) {
  for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size()) {
    const bool is = x[i] > threshold;
    above[i] = is;
    if (is) {
      cg::coalesced_group active = cg::coalesced_threads();
      if (active.thread_rank() == 0) atomicAdd(count, static_cast<unsigned long long>(active.size()));
    }
  }
}
extern "C" void mask(const float* x, bool* above, long long* count, float threshold, int n) {
  cudaMemsetAsync(count, 0, sizeof *count);
  const int blocks = (n + 127) / 128;
  k<<<blocks < 64 ? blocks : 64, 128>>>(x, above, (unsigned long long*)count, threshold, n);
}
