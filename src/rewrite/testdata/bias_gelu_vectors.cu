
__device__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }
// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

// bias_gelu_kernel: neighbouring threads run along col, each with kWidth points that move in one
// memory access.
template <int kWidth>
__global__ void __launch_bounds__(256) bias_gelu_kernel(const float* __restrict__ x,
    const float* __restrict__ bias, float* __restrict__ y, int rows, int cols) {
  const int col = (blockIdx.x * 64 + threadIdx.x) * kWidth;
  if (col >= cols) {
    return;
  }
  for (int row = blockIdx.y * 4 + threadIdx.y; row < rows; row += gridDim.y * 4) {
    const Pack<float, kWidth> x_pack =
        *reinterpret_cast<const Pack<float, kWidth>*>(x + row * cols + col);
    const Pack<float, kWidth> bias_pack = *reinterpret_cast<const Pack<float, kWidth>*>(bias + col);
    Pack<float, kWidth> y_pack;
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) {
      const float v = x_pack.lane[lane] + bias_pack.lane[lane];
      y_pack.lane[lane] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
    }
    *reinterpret_cast<Pack<float, kWidth>*>(y + row * cols + col) = y_pack;
  }
}

// Launches bias_gelu_kernel.
static void launch_bias_gelu_kernel(const float* x, const float* bias, float* y, int rows,
    int cols) {
  if (rows <= 0 || cols <= 0) {
    return;
  }
  const dim3 block(64, 4);
  const int row_blocks = (rows + 3) / 4;
  if (cols % 4 == 0 && reinterpret_cast<size_t>(bias) % 16 == 0 &&
      reinterpret_cast<size_t>(x) % 16 == 0 && reinterpret_cast<size_t>(y) % 16 == 0) {
    const dim3 grid((cols + 255) / 256, row_blocks < 65535 ? row_blocks : 65535);
    bias_gelu_kernel<4><<<grid, block>>>(x, bias, y, rows, cols);
  } else {
    const dim3 grid((cols + 63) / 64, row_blocks < 65535 ? row_blocks : 65535);
    bias_gelu_kernel<1><<<grid, block>>>(x, bias, y, rows, cols);
  }
}
extern "C" void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + 15) / 16, (rows + 15) / 16);
  launch_bias_gelu_kernel(x, bias, y, rows, cols);
}
