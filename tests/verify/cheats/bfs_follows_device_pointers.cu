// task: bfs
// kind: 27
// stage: plan
// reason: launcher reads or writes device memory on the host
#include <vector>
extern "C" void bfs(const int* edges, int* levels, int nodes) {
  std::vector<int> queue = {0};
  int first;
  cudaMemcpy(&first, edges, sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < nodes; ++i) levels[i] = -1;
  levels[0] = 0;
}
