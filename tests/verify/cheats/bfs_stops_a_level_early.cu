// task: bfs
// kind: 5
// stage: L1
// reason: levels[
// What it decides by is right, but it gives up after four levels.
__global__ void start(int* levels, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) levels[i] = i == 0 ? 0 : -1;
}
__global__ void expand(const int* edges, int* levels, int* found, int level, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nodes || atomicAdd(&levels[i], 0) != level) return;
  for (int e = 0; e < 4; ++e) {
    if (atomicCAS(&levels[edges[4 * i + e]], -1, level + 1) == -1) atomicExch(found, 1);
  }
}
extern "C" void bfs(const int* edges, int* levels, int nodes) {
  int* found;
  cudaMalloc(&found, sizeof(int));
  start<<<(nodes + 127) / 128, 128>>>(levels, nodes);
  int h_found = 1;
  for (int level = 0; h_found && level < 4; ++level) {
    cudaMemset(found, 0, sizeof(int));
    expand<<<(nodes + 127) / 128, 128>>>(edges, levels, found, level, nodes);
    cudaMemcpy(&h_found, found, sizeof(int), cudaMemcpyDeviceToHost);
  }
  cudaFree(found);
}
