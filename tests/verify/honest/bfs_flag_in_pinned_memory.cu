// task: bfs
// launcher: host mode
// The flag comes to pinned memory on a stream of its own; scratch is kept in a static.
struct Flag {
  int* device = nullptr;
  int* host = nullptr;
  cudaStream_t stream;
  Flag() {
    cudaMalloc(&device, sizeof(int));
    cudaMallocHost(&host, sizeof(int));
    cudaStreamCreate(&stream);
  }
  ~Flag() {
    cudaFree(device);
    cudaFreeHost(host);
    cudaStreamDestroy(stream);
  }
  bool IsSet() const {
    cudaMemcpyAsync(host, device, sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    return *host != 0;
  }
};

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
  const Flag flag;
  const int blocks = (nodes + 255) / 256;
  start<<<blocks, 256, 0, flag.stream>>>(levels, nodes);
  int level = 0;
  do {
    cudaMemsetAsync(flag.device, 0, sizeof(int), flag.stream);
    expand<<<blocks, 256, 0, flag.stream>>>(edges, levels, flag.device, level++, nodes);
  } while (flag.IsSet());
}
