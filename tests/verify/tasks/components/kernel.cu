// Labels spread along edges until none changes; the flag is a module variable.
__device__ int changed;

__global__ void own_label(int* labels, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) labels[i] = i;
}

__global__ void spread(const int* from, const int* to, int* labels, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  int a = atomicAdd(&labels[from[e]], 0);
  int b = atomicAdd(&labels[to[e]], 0);
  if (a < b && atomicMin(&labels[to[e]], a) > a) atomicExch(&changed, 1);
  if (b < a && atomicMin(&labels[from[e]], b) > b) atomicExch(&changed, 1);
}

extern "C" void components(const int* from, const int* to, int* labels, int nodes, int edges) {
  own_label<<<(nodes + 127) / 128, 128>>>(labels, nodes);
  int h_changed = 1;
  while (h_changed) {
    h_changed = 0;
    cudaMemcpyToSymbol(changed, &h_changed, sizeof(int));
    spread<<<(edges + 127) / 128, 128>>>(from, to, labels, edges);
    cudaMemcpyFromSymbol(&h_changed, changed, sizeof(int));
  }
}
