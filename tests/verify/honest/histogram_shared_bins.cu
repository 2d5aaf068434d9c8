// task: histogram
__global__ void k(const int* data, int* counts, int n, int bins) {
  extern __shared__ int s[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) s[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&s[data[i]], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    if (s[b] != 0) atomicAdd(&counts[b], s[b]);
  }
}
extern "C" void histogram(const int* data, int* counts, int n, int bins) {
  cudaMemset(counts, 0, bins * sizeof(int));
  int blocks = (n + 1023) / 1024;
  k<<<blocks, 256, bins * sizeof(int)>>>(data, counts, n, bins);
}
