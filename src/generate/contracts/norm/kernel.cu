// result = {{kind.title}} of x: each block walks over the array and leaves its share, then one
// thread adds the shares.

#define BLOCK 256
#define SHARES 1024

__global__ void {{name}}_shares(const {{type}}* x, {{type}}* shares, int n) {
  __shared__ {{type}} sums[BLOCK];
  {{type}} sum = 0;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
    {{type}} v = x[i];
    sum += {{kind.term}};
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    shares[blockIdx.x] = sums[0];
  }
}

__global__ void {{name}}_finish(const {{type}}* shares, {{type}}* result, int count) {
  {{type}} sum = 0;
  for (int j = 0; j < count; ++j) {
    sum += shares[j];
  }
  result[0] = {{kind.root}};
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* result, {{type}}* shares, int n) {
  int blocks = min((n + BLOCK - 1) / BLOCK, SHARES);
  {{name}}_shares<<<blocks, BLOCK>>>(x, shares, n);
  {{name}}_finish<<<1, 1>>>(shares, result, blocks);
}
