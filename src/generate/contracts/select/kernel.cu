// z[i] = mask[i] ? x[i] : y[i]: one thread per element.

{{include}}__global__ void select_kernel(const unsigned char* mask, const {{type}}* x, const {{type}}* y,
                              {{type}}* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = mask[i] != 0 ? x[i] : y[i];
  }
}

extern "C" void select(const unsigned char* mask, const {{type}}* x, const {{type}}* y, {{type}}* z,
                       int n) {
  int block = 256;
  int grid = (n + block - 1) / block;
  select_kernel<<<grid, block>>>(mask, x, y, z, n);
}
