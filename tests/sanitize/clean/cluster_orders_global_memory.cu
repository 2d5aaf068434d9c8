// Blocks of a cluster exchange through global memory between barriers of the cluster.
// n: 256
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) Swap(const float* in, float* scratch, float* out, int n) {
  const cg::cluster_group cluster = cg::this_cluster();
  const int i = blockIdx.x * 128 + threadIdx.x;
  scratch[i] = 2.0f * in[i];
  cluster.sync();
  out[i] = scratch[n - 1 - i];
}

extern "C" void launch(const float* in, float* out, int n) {
  float* scratch = nullptr;
  cudaMalloc(&scratch, n * sizeof(float));
  Swap<<<2, 128>>>(in, scratch, out, n);
  cudaFree(scratch);
}
