// task: softmax
// Cooperative groups: a tile of 16 threads for each row, and their reductions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(const float* x, float* y, int rows, int cols) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  const int r = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (r >= rows) return;
  const float* in = x + static_cast<long long>(r) * cols;
  float top = in[0];
  for (int c = tile.thread_rank(); c < cols; c += tile.size()) top = fmaxf(top, in[c]);
  top = cg::reduce(tile, top, cg::greater<float>());
  float sum = 0.0f;
  for (int c = tile.thread_rank(); c < cols; c += tile.size()) sum += expf(in[c] - top);
  sum = cg::reduce(tile, sum, cg::plus<float>());
  for (int c = tile.thread_rank(); c < cols; c += tile.size()) {
    y[static_cast<long long>(r) * cols + c] = expf(in[c] - top) / sum;
  }
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  k<<<(rows + 7) / 8, 128>>>(x, y, rows, cols);
}
