// A block reads its neighbour's shared memory without a barrier of the cluster.
// n: 256
// emulator: race
// also: uninitialised
// sanitizer: racecheck
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) Swap(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  tile[t] = in[blockIdx.x * 128 + t];  // here
  __syncthreads();
  const float* other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  out[blockIdx.x * 128 + t] = other[t];  // here
  cluster.sync();
}

extern "C" void launch(const float* in, float* out, int n) {
  Swap<<<2, 128>>>(in, out, n);
}
