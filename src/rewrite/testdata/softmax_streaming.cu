
// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

// Combines maxima and sums of expf(x - maximum) of 128 threads; each of them gets the result.
__device__ __forceinline__ void block_online(float& m, float& s) {
  __shared__ float m_of_warp[4];
  __shared__ float s_of_warp[4];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_m = __shfl_xor_sync(0xffffffffu, m, offset);
    const float other_s = __shfl_xor_sync(0xffffffffu, s, offset);
    const float larger = other_m > m ? other_m : m;
    s = (m == larger ? s : s * expf(m - larger)) +
        (other_m == larger ? other_s : other_s * expf(other_m - larger));
    m = larger;
  }
  if (threadIdx.x % 32 == 0) {
    m_of_warp[threadIdx.x / 32] = m;
    s_of_warp[threadIdx.x / 32] = s;
  }
  __syncthreads();
  m = m_of_warp[threadIdx.x % 4];
  s = s_of_warp[threadIdx.x % 4];
#pragma unroll
  for (int offset = 2; offset > 0; offset /= 2) {
    const float other_m = __shfl_xor_sync(0xffffffffu, m, offset);
    const float other_s = __shfl_xor_sync(0xffffffffu, s, offset);
    const float larger = other_m > m ? other_m : m;
    s = (m == larger ? s : s * expf(m - larger)) +
        (other_m == larger ? other_s : other_s * expf(other_m - larger));
    m = larger;
  }
  __syncthreads();  // before the next call writes
}

// softmax_kernel: a block of 128 threads per row; maximum and sum are found in one pass, the sum
// being rescaled when the maximum grows.
template <int kWidth>
__global__ void __launch_bounds__(128) softmax_kernel(const float* __restrict__ x,
    float* __restrict__ y, int rows, int cols) {
  constexpr int kThreads = 128;
  const int row = blockIdx.x;
  float m = x[row * cols];
  float s = 0.0f;
  for (int c = threadIdx.x * kWidth; c < cols; c += kThreads * kWidth) {
    const Pack<float, kWidth> x_pack =
        *reinterpret_cast<const Pack<float, kWidth>*>(x + row * cols + c);
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) {
      const float value = x_pack.lane[lane];
      if (value > m) {
        s *= expf(m - value);
        m = value;
      }
      s += expf(value - m);
    }
  }
  block_online(m, s);
  for (int c = threadIdx.x * kWidth; c < cols; c += kThreads * kWidth) {
    const Pack<float, kWidth> x_pack =
        *reinterpret_cast<const Pack<float, kWidth>*>(x + row * cols + c);
    Pack<float, kWidth> y_pack;
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) {
      y_pack.lane[lane] = expf(x_pack.lane[lane] - m) / s;
    }
    *reinterpret_cast<Pack<float, kWidth>*>(y + row * cols + c) = y_pack;
  }
}

// Launches softmax_kernel with one block per row.
static void launch_softmax_kernel(const float* x, float* y, int rows, int cols) {
  if (rows <= 0) {
    return;
  }
  if (cols % 4 == 0 && reinterpret_cast<size_t>(x) % 16 == 0 &&
      reinterpret_cast<size_t>(y) % 16 == 0) {
    softmax_kernel<4><<<rows, 128>>>(x, y, rows, cols);
  } else {
    softmax_kernel<1><<<rows, 128>>>(x, y, rows, cols);
  }
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  launch_softmax_kernel(x, y, rows, cols);
}
