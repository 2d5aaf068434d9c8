// counts[v] = number of elements of data equal to v: each block counts in shared memory.

__global__ void histogram_kernel(const int* data, int* counts, int n, int bins) {
  extern __shared__ int mine[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    mine[b] = 0;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine[data[i]], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    if (mine[b] > 0) {
      atomicAdd(&counts[b], mine[b]);
    }
  }
}

extern "C" void histogram(const int* data, int* counts, int n, int bins) {
  cudaMemsetAsync(counts, 0, bins * sizeof(int));
  int block = 512;
  int most = 528;
  int grid = (n + block - 1) / block;
  histogram_kernel<<<grid < most ? grid : most, block, bins * sizeof(int)>>>(data, counts, n, bins);
}
