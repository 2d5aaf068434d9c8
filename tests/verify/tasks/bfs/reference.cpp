#include <vector>

extern "C" void bfs_reference(const int* edges, int* levels, int nodes) {
  for (int i = 0; i < nodes; ++i) levels[i] = -1;
  std::vector<int> queue = {0};
  levels[0] = 0;
  for (size_t at = 0; at < queue.size(); ++at) {
    for (int e = 0; e < 4; ++e) {
      const int to = edges[4 * queue[at] + e];
      if (levels[to] < 0) {
        levels[to] = levels[queue[at]] + 1;
        queue.push_back(to);
      }
    }
  }
}
