// task: histogram
// kind: 20
// stage: L0
// reason: race
__global__ void k(const int* data, int* counts, int n, int bins) {
  extern __shared__ int s[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) s[b] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) s[data[i]] += 1;
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) atomicAdd(&counts[b], s[b]);
}
extern "C" void histogram(const int* data, int* counts, int n, int bins) {
  cudaMemsetAsync(counts, 0, bins * sizeof(int));
  k<<<(n + 255) / 256, 256, bins * sizeof(int)>>>(data, counts, n, bins);
}
