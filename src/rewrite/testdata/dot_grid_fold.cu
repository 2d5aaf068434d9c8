
// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

// Combines the values of 256 threads; each of them gets the result.
__device__ __forceinline__ float block_sum(float value) {
  __shared__ float value_of_warp[8];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  if (threadIdx.x % 32 == 0) {
    value_of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = value_of_warp[threadIdx.x % 8];
#pragma unroll
  for (int offset = 4; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  __syncthreads();  // before the next call writes
  return value;
}

// dot_kernel: each thread folds a share of the input in a register, each block the shares of its
// threads; then one atomic per block.
__global__ void __launch_bounds__(256) dot_kernel(const float* __restrict__ x,
    const float* __restrict__ y, float* __restrict__ out, int n) {
  constexpr int kThreads = 256;
  constexpr int kWidth = 4;
  constexpr int kItems = 4;
  float out_share = 0.0f;
  const int stride = gridDim.x * kThreads * kWidth;
  const int in_packs = reinterpret_cast<size_t>(x) % 16 == 0 &&
      reinterpret_cast<size_t>(y) % 16 == 0 ? n - n % kWidth : 0;
  int first = (blockIdx.x * kThreads + threadIdx.x) * kWidth;
  for (; in_packs - first > (kItems - 1) * stride; first += kItems * stride) {
    Pack<float, kWidth> x_pack[kItems];
    Pack<float, kWidth> y_pack[kItems];
#pragma unroll
    for (int item = 0; item < kItems; ++item) {
      const int i = first + item * stride;
      x_pack[item] = *reinterpret_cast<const Pack<float, kWidth>*>(x + i);
      y_pack[item] = *reinterpret_cast<const Pack<float, kWidth>*>(y + i);
    }
#pragma unroll
    for (int item = 0; item < kItems; ++item) {
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        out_share += x_pack[item].lane[lane] * y_pack[item].lane[lane];
      }
    }
  }
  for (; first < in_packs; first += stride) {
    const Pack<float, kWidth> x_pack = *reinterpret_cast<const Pack<float, kWidth>*>(x + first);
    const Pack<float, kWidth> y_pack = *reinterpret_cast<const Pack<float, kWidth>*>(y + first);
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) {
      out_share += x_pack.lane[lane] * y_pack.lane[lane];
    }
  }
  for (int i = in_packs + blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    out_share += x[i] * y[i];
  }
  out_share = block_sum(out_share);
  if (threadIdx.x == 0) {
    atomicAdd(&out[0], out_share);
  }
}

// Launches dot_kernel with at most 8 blocks for each of 132 multiprocessors.
static void launch_dot_kernel(const float* x, const float* y, float* out, int n) {
  if (n <= 0) {
    return;
  }
  const int blocks = (n + 4095) / 4096;
  const int grid = blocks < 1056 ? static_cast<int>(blocks) : 1056;
  dot_kernel<<<grid, 256>>>(x, y, out, n);
}
extern "C" void dot(const float* x, const float* y, float* out, int n) {
  cudaMemset(out, 0, sizeof(float));
  launch_dot_kernel(x, y, out, n);
}
