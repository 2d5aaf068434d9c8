
// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

// relu_kernel: every thread computes 2 times 4 neighbouring points, which move in one memory
// access.
__global__ void __launch_bounds__(256) relu_kernel(const float* __restrict__ x,
    float* __restrict__ y, int n) {
  constexpr int kThreads = 256;
  constexpr int kWidth = 4;
  constexpr int kItems = 2;
  const int first = blockIdx.x * (kItems * kThreads * kWidth) + threadIdx.x * kWidth;
  if (n - first >= (kItems - 1) * kThreads * kWidth + kWidth &&
      reinterpret_cast<size_t>(x) % 16 == 0 && reinterpret_cast<size_t>(y) % 16 == 0) {
    Pack<float, kWidth> x_pack[kItems];
#pragma unroll
    for (int item = 0; item < kItems; ++item) {
      const int i = first + item * kThreads * kWidth;
      x_pack[item] = *reinterpret_cast<const Pack<float, kWidth>*>(x + i);
    }
#pragma unroll
    for (int item = 0; item < kItems; ++item) {
      const int i = first + item * kThreads * kWidth;
      Pack<float, kWidth> y_pack;
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        y_pack.lane[lane] = fmaxf(x_pack[item].lane[lane], 0.0f);
      }
      *reinterpret_cast<Pack<float, kWidth>*>(y + i) = y_pack;
    }
  } else {
    for (int item = 0; item < kItems; ++item) {
      const int start = first + item * kThreads * kWidth;
      for (int i = start; i < n && i < start + kWidth; ++i) {
        y[i] = fmaxf(x[i], 0.0f);
      }
    }
  }
}

// Launches relu_kernel; a block takes 2048 points.
static void launch_relu_kernel(const float* x, float* y, int n) {
  if (n <= 0) {
    return;
  }
  relu_kernel<<<(n + 2047) / 2048, 256>>>(x, y, n);
}
extern "C" void relu(const float* x, float* y, int n) {
  launch_relu_kernel(x, y, n);
}
