// y = (x - mean) / sqrt(variance + eps) * gamma + beta for each row: one thread per row, three
// passes.

{{include}}__global__ void layer_norm_kernel(const {{type}}* x, const {{type}}* gamma, const {{type}}* beta,
                                  {{type}}* y, int rows, int cols, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) {
    return;
  }
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += {{load:x[r * cols + c]}};
  }
  float mean = sum / cols;
  float squares = 0.0f;
  for (int c = 0; c < cols; ++c) {
    float d = {{load:x[r * cols + c]}} - mean;
    squares += d * d;
  }
  float scale = 1.0f / sqrtf(squares / cols + eps);
  for (int c = 0; c < cols; ++c) {
    float v = {{load:x[r * cols + c]}};
    float result = (v - mean) * scale * {{load:gamma[c]}} + {{load:beta[c]}};
    y[r * cols + c] = {{store:result}};
  }
}

extern "C" void layer_norm(const {{type}}* x, const {{type}}* gamma, const {{type}}* beta, {{type}}* y,
                           int rows, int cols, float eps) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  layer_norm_kernel<<<grid, block>>>(x, gamma, beta, y, rows, cols, eps);
}
