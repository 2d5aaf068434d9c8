// count = the number of x[i] > threshold: one thread per element adds to the count.

__global__ void count_above_kernel(const {{type}}* x, int* count, float threshold, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > threshold) {
    atomicAdd(count, 1);
  }
}

extern "C" void count_above(const {{type}}* x, int* count, float threshold, int n) {
  cudaMemsetAsync(count, 0, sizeof(int));
  int block = 256;
  int grid = (n + block - 1) / block;
  count_above_kernel<<<grid, block>>>(x, count, threshold, n);
}
