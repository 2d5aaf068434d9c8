// y = (x - mean) / sqrt(variance + eps) over each sample. There are few samples and they are large,
// so several blocks share each of them, and every pass is a launch: sums, squares, result.

#define BLOCK 256

__global__ void sum_kernel(const float* x, float* sums, int n) {
  int sample = blockIdx.y;
  float share = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    share += x[sample * n + i];
  }
  atomicAdd(&sums[sample], share);
}

__global__ void square_kernel(const float* x, const float* sums, float* squares, int n) {
  int sample = blockIdx.y;
  float mean = sums[sample] / n;
  float share = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float d = x[sample * n + i] - mean;
    share += d * d;
  }
  atomicAdd(&squares[sample], share);
}

__global__ void normalise_kernel(const float* x, const float* sums, const float* squares, float* y,
                                 int n, float eps) {
  int sample = blockIdx.y;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float mean = sums[sample] / n;
    float variance = squares[sample] / n;
    y[sample * n + i] = (x[sample * n + i] - mean) / sqrtf(variance + eps);
  }
}

extern "C" void layer_norm_3d(const float* x, float* y, float* sums, float* squares, int samples,
                              int channels, int height, int width, float eps) {
  int n = channels * height * width;
  int blocks = (n + BLOCK - 1) / BLOCK;
  dim3 shared_grid(min(blocks, 64), samples);
  cudaMemsetAsync(sums, 0, samples * sizeof(float));
  cudaMemsetAsync(squares, 0, samples * sizeof(float));
  sum_kernel<<<shared_grid, BLOCK>>>(x, sums, n);
  square_kernel<<<shared_grid, BLOCK>>>(x, sums, squares, n);
  normalise_kernel<<<dim3(blocks, samples), BLOCK>>>(x, sums, squares, y, n, eps);
}
