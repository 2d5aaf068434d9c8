// task: histogram
// Lanes with the same value elect one that adds for all of them.
#include <cooperative_groups.h>
__global__ void k(const int* data, int* counts, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int v = data[i];
    const unsigned peers = __match_any_sync(__activemask(), v);
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (lane == __ffs(peers) - 1) atomicAdd(counts + v, __popc(peers));
  }
}
extern "C" void histogram(const int* data, int* counts, int n, int bins) {
  cudaMemsetAsync(counts, 0, bins * sizeof(int));
  k<<<min((n + 255) / 256, 264), 256>>>(data, counts, n);
}
