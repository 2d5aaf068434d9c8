// counts[v] = number of elements of data equal to v: every thread counts its element in global
// memory.

__global__ void histogram_kernel(const int* data, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&counts[data[i]], 1);
  }
}

extern "C" void histogram(const int* data, int* counts, int n, int bins) {
  cudaMemsetAsync(counts, 0, bins * sizeof(int));
  int block = 256;
  int grid = (n + block - 1) / block;
  histogram_kernel<<<grid, block>>>(data, counts, n);
}
