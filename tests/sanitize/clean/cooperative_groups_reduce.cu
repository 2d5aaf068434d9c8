// Tiles of 16 threads reduce by shuffles of their own.
// n: 512
// out: 128
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void Sum(const unsigned* in, unsigned* out, int n) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = in[i];
  for (int d = 8; d > 0; d /= 2) {
    v += tile.shfl_down(v, d);
  }
  if (tile.thread_rank() == 0) {
    out[i / 16] = v;
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Sum<<<4, 128>>>(in, out, n);
}
