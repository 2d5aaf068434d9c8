// y = x / sqrt(mean of x^2 + eps) * gamma for each row: one thread per row, two passes.

{{include}}__global__ void rms_norm_kernel(const {{type}}* x, const {{type}}* gamma, {{type}}* y, int rows, int cols,
                                float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) {
    return;
  }
  float squares = 0.0f;
  for (int c = 0; c < cols; ++c) {
    float v = {{load:x[r * cols + c]}};
    squares += v * v;
  }
  float scale = 1.0f / sqrtf(squares / cols + eps);
  for (int c = 0; c < cols; ++c) {
    float result = {{load:x[r * cols + c]}} * scale * {{load:gamma[c]}};
    y[r * cols + c] = {{store:result}};
  }
}

extern "C" void rms_norm(const {{type}}* x, const {{type}}* gamma, {{type}}* y, int rows, int cols, float eps) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  rms_norm_kernel<<<grid, block>>>(x, gamma, y, rows, cols, eps);
}
