// n: 16384
// A histogram whose bins are spread over the blocks of a cluster; the cluster's size is an attribute
// of the launch.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void Histogram(const unsigned* in, unsigned* bins, int n, int bins_of_block) {
  extern __shared__ unsigned mine[];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < bins_of_block; i += blockDim.x) {
    mine[i] = 0;
  }
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned bin = in[i] % (bins_of_block * cluster.num_blocks());
    unsigned* theirs = cluster.map_shared_rank(mine, bin / bins_of_block);
    atomicAdd(theirs + bin % bins_of_block, 1u);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < bins_of_block; i += blockDim.x) {
    atomicAdd(bins + cluster.block_rank() * bins_of_block + i, mine[i]);
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  cudaLaunchConfig_t config = {};
  config.gridDim = 16;
  config.blockDim = 128;
  config.dynamicSmemBytes = 128 * sizeof(unsigned);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 8;
  attribute[0].val.clusterDim.y = 1;
  attribute[0].val.clusterDim.z = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, Histogram, in, out, n, 128);
}
