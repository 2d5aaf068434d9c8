// result = the {{kind.title}} of x, in three launches: the mean, the sum of the squared deviations from
// it, the result.

#define BLOCK 256

__global__ void {{name}}_mean(const {{type}}* x, {{type}}* mean, int n) {
  __shared__ {{type}} sums[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    atomicAdd(mean, sums[0] / n);
  }
}

__global__ void {{name}}_squares(const {{type}}* x, const {{type}}* mean, {{type}}* sum, int n) {
  __shared__ {{type}} sums[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  {{type}} d = i < n ? x[i] - mean[0] : 0;
  sums[threadIdx.x] = d * d;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    atomicAdd(sum, sums[0]);
  }
}

__global__ void {{name}}_finish(const {{type}}* total, {{type}}* result, int n) {
  {{type}} sum = total[0];
  result[0] = {{kind.root}};
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* result, {{type}}* mean, {{type}}* sum, int n) {
  cudaMemsetAsync(mean, 0, sizeof({{type}}));
  cudaMemsetAsync(sum, 0, sizeof({{type}}));
  int grid = (n + BLOCK - 1) / BLOCK;
  {{name}}_mean<<<grid, BLOCK>>>(x, mean, n);
  {{name}}_squares<<<grid, BLOCK>>>(x, mean, sum, n);
  {{name}}_finish<<<1, 1>>>(sum, result, n);
}
