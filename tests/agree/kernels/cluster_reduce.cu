// n: 16384
// A sum over clusters of four blocks through distributed shared memory; clusters in two dimensions.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) Sum(const unsigned* in, unsigned* out) {
  __shared__ unsigned partial[128];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned* from = in + blockIdx.x * 512;
  unsigned sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += from[i * 128 + threadIdx.x] ^ static_cast<unsigned>(i);
  }
  partial[threadIdx.x] = sum;
  cluster.sync();
  // Each block finishes a quarter of the threads.
  if (threadIdx.x < 32) {
    const unsigned index = cluster.block_rank() * 32 + threadIdx.x;
    unsigned total = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
      total = total * 5 + cluster.map_shared_rank(partial, rank)[index];
    }
    out[blockIdx.x / 4 * 128 + index] = total;
  }
  cluster.sync();
}

__global__ void __cluster_dims__(2, 2, 1) Neighbours(const unsigned* in, unsigned* out, int width) {
  __shared__ unsigned tile[64];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  tile[threadIdx.x] = in[block * 64 + threadIdx.x];
  cluster.sync();
  const dim3 at = cluster.block_index();
  const unsigned across = at.y * 2 + (at.x ^ 1);
  const unsigned below = (at.y ^ 1) * 2 + at.x;
  const unsigned a = cluster.map_shared_rank(tile, across)[63 - threadIdx.x];
  const unsigned b = cluster.map_shared_rank(tile, below)[threadIdx.x];
  cluster.sync();
  out[width + block * 64 + threadIdx.x] = a * 7 + b + cluster.block_rank();
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  Sum<<<n / 512, 128>>>(in, out);
  Neighbours<<<dim3(8, 4), 64>>>(in, out, n / 2);
}
