// y[index[i]] += x[i]: one thread per value, by atomic additions.

__global__ void scatter_add_kernel(const {{type}}* x, const int* index, {{type}}* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&y[index[i]], x[i]);
  }
}

extern "C" void scatter_add(const {{type}}* x, const int* index, {{type}}* y, int n) {
  int block = 256;
  int grid = (n + block - 1) / block;
  scatter_add_kernel<<<grid, block>>>(x, index, y, n);
}
