// result = x[0] * y[0] + ... + x[n - 1] * y[n - 1]: every block sums the products of its elements
// in shared memory by halves, and adds its sum to the result.

#define BLOCK 256

__global__ void dot_kernel(const float* x, const float* y, float* result, int n) {
  __shared__ float sums[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] * y[i] : 0.0f;
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

extern "C" void dot(const float* x, const float* y, float* result, int n) {
  cudaMemsetAsync(result, 0, sizeof(float));
  int grid = (n + BLOCK - 1) / BLOCK;
  dot_kernel<<<grid, BLOCK>>>(x, y, result, n);
}
