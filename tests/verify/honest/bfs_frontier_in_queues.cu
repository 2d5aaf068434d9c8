// task: bfs
// launcher: host mode
// The frontier is a queue; its length is read back, sizes the next grid and is handed to it.
__global__ void start(int* levels, int* queue, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) levels[i] = i == 0 ? 0 : -1;
  if (i == 0) queue[0] = 0;
}
__global__ void expand(const int* edges, int* levels, const int* queue, int length, int* next,
                       int* next_length, int level) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length) return;
  for (int e = 0; e < 4; ++e) {
    int to = edges[4 * queue[i] + e];
    if (atomicCAS(&levels[to], -1, level + 1) == -1) next[atomicAdd(next_length, 1)] = to;
  }
}

extern "C" void bfs(const int* edges, int* levels, int nodes) {
  int *queue, *next, *length;
  cudaMalloc(&queue, nodes * sizeof(int));
  cudaMalloc(&next, nodes * sizeof(int));
  cudaMalloc(&length, sizeof(int));
  start<<<(nodes + 127) / 128, 128>>>(levels, queue, nodes);
  int h_length = 1;
  for (int level = 0; h_length > 0; ++level) {
    cudaMemset(length, 0, sizeof(int));
    expand<<<(h_length + 127) / 128, 128>>>(edges, levels, queue, h_length, next, length, level);
    cudaMemcpy(&h_length, length, sizeof(int), cudaMemcpyDeviceToHost);
    int* swapped = queue;
    queue = next;
    next = swapped;
  }
  cudaFree(queue);
  cudaFree(next);
  cudaFree(length);
}
