// y = gelu(x + bias) with gelu(v) = v / 2 * (1 + tanh(sqrt(2 / pi) * (v + 0.044715 v^3))): one
// thread per element; bias has one value a column.

__global__ void gelu_bias_kernel(const float* x, const float* bias, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    float v = x[r * cols + c] + bias[c];
    float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
    y[r * cols + c] = 0.5f * v * (1.0f + tanhf(inner));
  }
}

extern "C" void gelu_bias(const float* x, const float* bias, float* y, int rows, int cols) {
  dim3 block(32, 8);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  gelu_bias_kernel<<<grid, block>>>(x, bias, y, rows, cols);
}
