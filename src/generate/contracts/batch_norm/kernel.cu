// y = (x - mean) / sqrt(variance + eps) * gamma + beta with the values of x's channel: one thread per
// element.

{{include}}__global__ void batch_norm_kernel(const {{type}}* x, const float* mean, const float* variance,
                                  const float* gamma, const float* beta, {{type}}* y, int channels,
                                  int plane, int count, float eps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    int c = i / plane % channels;
    float v = {{load:x[i]}};
    float result = (v - mean[c]) / sqrtf(variance[c] + eps) * gamma[c] + beta[c];
    y[i] = {{store:result}};
  }
}

extern "C" void batch_norm(const {{type}}* x, const float* mean, const float* variance, const float* gamma,
                           const float* beta, {{type}}* y, int images, int channels, int height,
                           int width, float eps) {
  int plane = height * width;
  int count = images * channels * plane;
  int block = 256;
  int grid = (count + block - 1) / block;
  batch_norm_kernel<<<grid, block>>>(x, mean, variance, gamma, beta, y, channels, plane, count, eps);
}
