// task: bfs
// kind: 27
// stage: plan
// reason: launcher reads more than 4096 bytes of device data back between two launches
#include <vector>
__global__ void put(int* levels, int i, int level) { levels[i] = level; }

extern "C" void bfs(const int* edges, int* levels, int nodes) {
  std::vector<int> to(4 * nodes), found(nodes, -1), queue = {0};
  cudaMemcpy(to.data(), edges, 4 * nodes * sizeof(int), cudaMemcpyDeviceToHost);
  found[0] = 0;
  for (size_t at = 0; at < queue.size(); ++at) {
    for (int e = 0; e < 4; ++e) {
      int next = to[4 * queue[at] + e];
      if (found[next] < 0) {
        found[next] = found[queue[at]] + 1;
        queue.push_back(next);
      }
    }
  }
  for (int i = 0; i < nodes; ++i) put<<<1, 1>>>(levels, i, found[i]);
}
