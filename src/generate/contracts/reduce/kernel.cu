// result = the {{op.title}} of all x: each block walks over the array and leaves its share, then one block
// combines the shares.

#define BLOCK 256
#define SHARES 1024

__global__ void {{name}}_shares(const {{type}}* x, {{type}}* shares, int n) {
  __shared__ {{type}} of_threads[BLOCK];
  {{type}} share = {{op.start}};
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
    {{type}} v = x[i];
    share = {{op.combine}};
  }
  of_threads[threadIdx.x] = share;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      {{type}} share = of_threads[threadIdx.x];
      {{type}} v = of_threads[threadIdx.x + half];
      of_threads[threadIdx.x] = {{op.combine}};
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    shares[blockIdx.x] = of_threads[0];
  }
}

__global__ void {{name}}_finish(const {{type}}* shares, {{type}}* out, int count, int n) {
  {{type}} result = {{op.start}};
  for (int j = 0; j < count; ++j) {
    result = {{op.merge}};
  }
  {{type}} total = result;
  out[0] = {{op.finish}};
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* result, {{type}}* shares, int n) {
  int blocks = min((n + BLOCK - 1) / BLOCK, SHARES);
  {{name}}_shares<<<blocks, BLOCK>>>(x, shares, n);
  {{name}}_finish<<<1, 1>>>(shares, result, blocks, n);
}
