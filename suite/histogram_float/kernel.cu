// counts[v] = number of elements of data in [v, v + 1); elements outside of [0, bins) are not
// counted. Every thread counts its element in global memory.

__global__ void histogram_float_kernel(const float* data, int* counts, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float value = data[i];
    if (value >= 0.0f && value < bins) {
      atomicAdd(&counts[(int)value], 1);
    }
  }
}

extern "C" void histogram_float(const float* data, int* counts, int n, int bins) {
  cudaMemsetAsync(counts, 0, bins * sizeof(int));
  int block = 256;
  int grid = (n + block - 1) / block;
  histogram_float_kernel<<<grid, block>>>(data, counts, n, bins);
}
