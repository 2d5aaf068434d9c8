// A launch for each level, until none finds a node: the flag is read back.
__global__ void start(int* levels, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) levels[i] = i == 0 ? 0 : -1;
}

__global__ void expand(const int* edges, int* levels, int* found, int level, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nodes || levels[i] != level) return;
  for (int e = 0; e < 4; ++e) {
    if (atomicCAS(&levels[edges[4 * i + e]], -1, level + 1) == -1) atomicExch(found, 1);
  }
}

extern "C" void bfs(const int* edges, int* levels, int nodes) {
  const int blocks = (nodes + 127) / 128;
  int* found;
  cudaMalloc(&found, sizeof(int));
  start<<<blocks, 128>>>(levels, nodes);
  int h_found = 1;
  for (int level = 0; h_found; ++level) {
    cudaMemset(found, 0, sizeof(int));
    expand<<<blocks, 128>>>(edges, levels, found, level, nodes);
    cudaMemcpy(&h_found, found, sizeof(int), cudaMemcpyDeviceToHost);
  }
  cudaFree(found);
}
