// y[i] = sum over t of x[i + t - taps / 2] * weights[t], x zero outside: one thread per element.

__global__ void conv1d_kernel(const {{type}}* x, const {{type}}* weights, {{type}}* y, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    {{type}} sum = 0;
    for (int t = 0; t < taps; ++t) {
      int from = i + t - taps / 2;
      if (from >= 0 && from < n) {
        sum += x[from] * weights[t];
      }
    }
    y[i] = sum;
  }
}

extern "C" void conv1d(const {{type}}* x, const {{type}}* weights, {{type}}* y, int n, int taps) {
  int block = 256;
  int grid = (n + block - 1) / block;
  conv1d_kernel<<<grid, block>>>(x, weights, y, n, taps);
}
