// y[i] = x[i]: one thread per element.

{{include}}__global__ void copy_kernel(const {{type}}* x, {{type}}* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i];
  }
}

extern "C" void copy(const {{type}}* x, {{type}}* y, int n) {
  int block = 256;
  int grid = (n + block - 1) / block;
  copy_kernel<<<grid, block>>>(x, y, n);
}
