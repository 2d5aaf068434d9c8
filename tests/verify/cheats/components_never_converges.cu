// task: components
// kind: 37
// stage: plan
// reason: launcher reads device data back more than 10000 times
// The flag is never cleared.
__device__ int changed = 1;
__global__ void own_label(int* labels, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) labels[i] = i;
}
extern "C" void components(const int* from, const int* to, int* labels, int nodes, int edges) {
  int again = 1;
  while (again) {
    own_label<<<1, 1>>>(labels, 1);
    cudaMemcpyFromSymbol(&again, changed, sizeof(int));
  }
}
