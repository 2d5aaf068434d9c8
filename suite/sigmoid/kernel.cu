// y[i] = 1 / (1 + exp(-x[i])): one thread per element.

__global__ void sigmoid_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 1.0f / (1.0f + expf(-x[i]));
  }
}

extern "C" void sigmoid(const float* x, float* y, int n) {
  int block = 256;
  int grid = (n + block - 1) / block;
  sigmoid_kernel<<<grid, block>>>(x, y, n);
}
