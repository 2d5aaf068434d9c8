// result = the {{kind.title}} of x and y: each block sums its elements in shared memory and adds its
// part of the mean to the result.

#define BLOCK 256

__global__ void {{name}}_kernel(const {{type}}* x, const {{type}}* y, {{type}}* result, int n) {
  __shared__ {{type}} sums[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  {{type}} d = i < n ? x[i] - y[i] : 0;
  sums[threadIdx.x] = {{kind.term}};
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    atomicAdd(result, sums[0] / n);
  }
}

extern "C" void {{name}}(const {{type}}* x, const {{type}}* y, {{type}}* result, int n) {
  cudaMemsetAsync(result, 0, sizeof({{type}}));
  int grid = (n + BLOCK - 1) / BLOCK;
  {{name}}_kernel<<<grid, BLOCK>>>(x, y, result, n);
}
