// result = x[0] * y[0] + ... + x[n - 1] * y[n - 1]: each block sums its products in shared memory and
// adds its sum to the result.

#define BLOCK 256

__global__ void dot_kernel(const {{type}}* x, const {{type}}* y, {{type}}* result, int n) {
  __shared__ {{type}} sums[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] * y[i] : 0;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    atomicAdd(result, sums[0]);
  }
}

extern "C" void dot(const {{type}}* x, const {{type}}* y, {{type}}* result, int n) {
  cudaMemsetAsync(result, 0, sizeof({{type}}));
  int grid = (n + BLOCK - 1) / BLOCK;
  dot_kernel<<<grid, BLOCK>>>(x, y, result, n);
}
