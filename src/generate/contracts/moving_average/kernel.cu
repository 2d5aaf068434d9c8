// y[i] = the mean of those of x[i - window / 2] ... x[i - window / 2 + window - 1] that exist: one
// thread per element.

__global__ void moving_average_kernel(const {{type}}* x, {{type}}* y, int n, int window) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    {{type}} sum = 0;
    int count = 0;
    for (int t = 0; t < window; ++t) {
      int from = i + t - window / 2;
      if (from >= 0 && from < n) {
        sum += x[from];
        count += 1;
      }
    }
    y[i] = sum / count;
  }
}

extern "C" void moving_average(const {{type}}* x, {{type}}* y, int n, int window) {
  int block = 256;
  int grid = (n + block - 1) / block;
  moving_average_kernel<<<grid, block>>>(x, y, n, window);
}
