// task: relu
// launcher: recorded
// The work is cut into chunks on the host, in a std::vector of structs.
#include <algorithm>
#include <vector>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

struct Chunk {
  int begin;
  int size;
};
extern "C" void relu(const float* x, float* y, int n) {
  std::vector<Chunk> chunks;
  for (int at = 0; at < n; at += 1 << 20) chunks.push_back({at, std::min(1 << 20, n - at)});
  for (const Chunk& c : chunks) k<<<(c.size + 255) / 256, 256>>>(x + c.begin, y + c.begin, c.size);
}
