// index = where the {{kind.title}} element of x is, the first of equal ones: each block walks over its
// elements and leaves the best, then one thread takes the best of these.

#define BLOCK 256
#define SHARES 1024

__device__ bool is_better({{type}} v, int i, {{type}} best, int at) {
  return v {{kind.better}} best || (v == best && i < at);
}

__global__ void {{name}}_shares(const {{type}}* x, {{type}}* values, int* indices, int n) {
  __shared__ {{type}} best[BLOCK];
  __shared__ int at[BLOCK];
  int t = threadIdx.x;
  best[t] = {{kind.start}};
  at[t] = INT_MAX;
  for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK) {
    if (is_better(x[i], i, best[t], at[t])) {
      best[t] = x[i];
      at[t] = i;
    }
  }
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (t < half && is_better(best[t + half], at[t + half], best[t], at[t])) {
      best[t] = best[t + half];
      at[t] = at[t + half];
    }
    __syncthreads();
  }
  if (t == 0) {
    values[blockIdx.x] = best[0];
    indices[blockIdx.x] = at[0];
  }
}

__global__ void {{name}}_finish(const {{type}}* values, const int* indices, int* index, int count) {
  int b = 0;
  for (int j = 1; j < count; ++j) {
    if (is_better(values[j], indices[j], values[b], indices[b])) {
      b = j;
    }
  }
  index[0] = indices[b];
}

extern "C" void {{name}}(const {{type}}* x, int* index, {{type}}* values, int* indices, int n) {
  int blocks = min((n + BLOCK - 1) / BLOCK, SHARES);
  {{name}}_shares<<<blocks, BLOCK>>>(x, values, indices, n);
  {{name}}_finish<<<1, 1>>>(values, indices, index, blocks);
}
