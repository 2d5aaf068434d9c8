// task: histogram
// kind: 21
// stage: plan
// reason: leave buffer "counts"
// fault: yes
__global__ void k(const int* data, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[data[i]], 1);
}
extern "C" void histogram(const int* data, int* counts, int n, int bins) {
  cudaMemsetAsync(counts, 0, (bins + 1) * sizeof(int));
  k<<<(n + 255) / 256, 256>>>(data, counts, n);
}
