// task: components
// launcher: host mode
// timed: compared
// Trees of nodes are hooked and flattened until nothing changes; how often depends on the order of
// blocks, the labels do not.
__device__ int changed;

__global__ void own_parent(int* parent, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) parent[i] = i;
}
__global__ void hook(const int* from, const int* to, int* parent, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  int a = atomicAdd(&parent[from[e]], 0);
  int b = atomicAdd(&parent[to[e]], 0);
  if (a == b) return;
  atomicExch(&changed, 1);
  atomicMin(&parent[max(a, b)], min(a, b));
  atomicMin(&parent[from[e]], min(a, b));
  atomicMin(&parent[to[e]], min(a, b));
}
__global__ void jump(int* parent, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nodes) return;
  int at = atomicAdd(&parent[i], 0);
  for (int up = atomicAdd(&parent[at], 0); up != at; up = atomicAdd(&parent[at], 0)) at = up;
  atomicMin(&parent[i], at);
}

extern "C" void components(const int* from, const int* to, int* labels, int nodes, int edges) {
  own_parent<<<(nodes + 127) / 128, 128>>>(labels, nodes);
  for (int again = 1; again;) {
    const int none = 0;
    cudaMemcpyToSymbol(changed, &none, sizeof(int));
    hook<<<(edges + 127) / 128, 128>>>(from, to, labels, edges);
    jump<<<(nodes + 127) / 128, 128>>>(labels, nodes);
    cudaMemcpyFromSymbol(&again, changed, sizeof(int));
  }
}
