// y[i] += alpha * x[i]: one thread per element.

__global__ void axpy_kernel(const {{type}}* x, {{type}}* y, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = y[i] + alpha * x[i];
  }
}

extern "C" void axpy(const {{type}}* x, {{type}}* y, float alpha, int n) {
  int block = 256;
  int grid = (n + block - 1) / block;
  axpy_kernel<<<grid, block>>>(x, y, alpha, n);
}
