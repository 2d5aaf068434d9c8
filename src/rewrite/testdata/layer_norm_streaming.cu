
// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

// Combines count, mean and squared deviations of 128 threads; each of them gets the result.
__device__ __forceinline__ void block_moments(float& count, float& mean, float& squares) {
  __shared__ float count_of_warp[4];
  __shared__ float mean_of_warp[4];
  __shared__ float squares_of_warp[4];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_count = __shfl_xor_sync(0xffffffffu, count, offset);
    const float other_mean = __shfl_xor_sync(0xffffffffu, mean, offset);
    const float other_squares = __shfl_xor_sync(0xffffffffu, squares, offset);
    const float total = count + other_count;
    const float part = total > 0.0f ? other_count / total : 0.0f;
    const float delta = other_mean - mean;
    mean += delta * part;
    squares += other_squares + delta * delta * count * part;
    count = total;
  }
  if (threadIdx.x % 32 == 0) {
    count_of_warp[threadIdx.x / 32] = count;
    mean_of_warp[threadIdx.x / 32] = mean;
    squares_of_warp[threadIdx.x / 32] = squares;
  }
  __syncthreads();
  count = count_of_warp[threadIdx.x % 4];
  mean = mean_of_warp[threadIdx.x % 4];
  squares = squares_of_warp[threadIdx.x % 4];
#pragma unroll
  for (int offset = 2; offset > 0; offset /= 2) {
    const float other_count = __shfl_xor_sync(0xffffffffu, count, offset);
    const float other_mean = __shfl_xor_sync(0xffffffffu, mean, offset);
    const float other_squares = __shfl_xor_sync(0xffffffffu, squares, offset);
    const float total = count + other_count;
    const float part = total > 0.0f ? other_count / total : 0.0f;
    const float delta = other_mean - mean;
    mean += delta * part;
    squares += other_squares + delta * delta * count * part;
    count = total;
  }
  __syncthreads();  // before the next call writes
}

// layer_norm_kernel: a block of 128 threads per row; mean and squared deviations are found in one
// pass.
template <int kWidth>
__global__ void __launch_bounds__(128) layer_norm_kernel(const float* __restrict__ x,
    const float* __restrict__ g, const float* __restrict__ b, float* __restrict__ y, int rows,
    int cols, float eps) {
  constexpr int kThreads = 128;
  const int r = blockIdx.x;
  float count = 0.0f;
  float mean = 0.0f;
  float squares = 0.0f;
  for (int c = threadIdx.x * kWidth; c < cols; c += kThreads * kWidth) {
    const Pack<float, kWidth> x_pack =
        *reinterpret_cast<const Pack<float, kWidth>*>(x + r * cols + c);
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) {
      const float value = x_pack.lane[lane];
      count += 1.0f;
      const float delta = value - mean;
      mean += __fdividef(delta, count);
      squares += delta * (value - mean);
    }
  }
  block_moments(count, mean, squares);
  const float inv = rsqrtf(squares / cols + eps);
  for (int c = threadIdx.x * kWidth; c < cols; c += kThreads * kWidth) {
    const Pack<float, kWidth> x_pack =
        *reinterpret_cast<const Pack<float, kWidth>*>(x + r * cols + c);
    const Pack<float, kWidth> g_pack = *reinterpret_cast<const Pack<float, kWidth>*>(g + c);
    const Pack<float, kWidth> b_pack = *reinterpret_cast<const Pack<float, kWidth>*>(b + c);
    Pack<float, kWidth> y_pack;
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) {
      y_pack.lane[lane] = (x_pack.lane[lane] - mean) * inv * g_pack.lane[lane] + b_pack.lane[lane];
    }
    *reinterpret_cast<Pack<float, kWidth>*>(y + r * cols + c) = y_pack;
  }
}

// Launches layer_norm_kernel with one block per row.
static void launch_layer_norm_kernel(const float* x, const float* g, const float* b, float* y,
    int rows, int cols, float eps) {
  if (rows <= 0) {
    return;
  }
  if (cols % 4 == 0 && reinterpret_cast<size_t>(b) % 16 == 0 &&
      reinterpret_cast<size_t>(g) % 16 == 0 && reinterpret_cast<size_t>(x) % 16 == 0 &&
      reinterpret_cast<size_t>(y) % 16 == 0) {
    layer_norm_kernel<4><<<rows, 128>>>(x, g, b, y, rows, cols, eps);
  } else {
    layer_norm_kernel<1><<<rows, 128>>>(x, g, b, y, rows, cols, eps);
  }
}
extern "C" void layer_norm(const float* x, const float* g, const float* b, float* y, int rows,
                           int cols, float eps) {
  launch_layer_norm_kernel(x, g, b, y, rows, cols, eps);
}
