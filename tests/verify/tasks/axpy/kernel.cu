// y[i] += a x[i]: one thread per element.

__global__ void axpy_kernel(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] += a * x[i];
  }
}

extern "C" void axpy(const float* x, float* y, float a, int n) {
  axpy_kernel<<<(n + 255) / 256, 256>>>(x, y, a, n);
}
