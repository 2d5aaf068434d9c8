// task: histogram
// kind: 21
// stage: L1
// reason: expected
__global__ void k(const int* data, int* counts, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[(data[i] + 1) % bins], 1);
}
extern "C" void histogram(const int* data, int* counts, int n, int bins) {
  cudaMemsetAsync(counts, 0, bins * sizeof(int));
  k<<<(n + 255) / 256, 256>>>(data, counts, n, bins);
}
