// y[i] = x[n - 1 - i]: one thread per element.

{{include}}__global__ void reverse_kernel(const {{type}}* x, {{type}}* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[n - 1 - i];
  }
}

extern "C" void reverse(const {{type}}* x, {{type}}* y, int n) {
  int block = 256;
  int grid = (n + block - 1) / block;
  reverse_kernel<<<grid, block>>>(x, y, n);
}
