// task: suite/gelu_bias
// tanh by one fast exponential and one fast division.
__global__ void k(const float* x, const float* bias, float* y, int rows, int cols) {
  for (int r = blockIdx.y; r < rows; r += gridDim.y) {
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < cols; c += gridDim.x * blockDim.x) {
      const float v = x[r * cols + c] + bias[c];
      const float u = 1.5957691216f * fmaf(0.044715f * v * v, v, v);
      y[r * cols + c] = u > 80.0f ? v : __fdividef(v, 1.0f + __expf(-u));
    }
  }
}
extern "C" void gelu_bias(const float* x, const float* bias, float* y, int rows, int cols) {
  k<<<dim3(2, 3), 96>>>(x, bias, y, rows, cols);
}
