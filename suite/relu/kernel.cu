// y[i] = max(x[i], 0): one thread per element.

__global__ void relu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = fmaxf(x[i], 0.0f);
  }
}

extern "C" void relu(const float* x, float* y, int n) {
  int block = 256;
  int grid = (n + block - 1) / block;
  relu_kernel<<<grid, block>>>(x, y, n);
}
