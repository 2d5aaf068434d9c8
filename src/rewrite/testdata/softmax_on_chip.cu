
// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

// Combines the values of 128 threads; each of them gets the result.
__device__ __forceinline__ float block_max(float value) {
  __shared__ float value_of_warp[4];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  if (threadIdx.x % 32 == 0) {
    value_of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = value_of_warp[threadIdx.x % 4];
#pragma unroll
  for (int offset = 2; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  __syncthreads();  // before the next call writes
  return value;
}

// Combines the values of 128 threads; each of them gets the result.
__device__ __forceinline__ float block_sum(float value) {
  __shared__ float value_of_warp[4];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  if (threadIdx.x % 32 == 0) {
    value_of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = value_of_warp[threadIdx.x % 4];
#pragma unroll
  for (int offset = 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  __syncthreads();  // before the next call writes
  return value;
}

// softmax_kernel: a block of 128 threads per row; each thread keeps its share of the row in
// registers between the passes.
template <int kWidth>
__global__ void __launch_bounds__(128) softmax_kernel(const float* __restrict__ x,
    float* __restrict__ y, int rows, int cols) {
  constexpr int kThreads = 128;
  constexpr int kItems = 2;
  const int row = blockIdx.x;
  Pack<float, kWidth> x_row[kItems];
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int c = (item * kThreads + threadIdx.x) * kWidth;
    if (c < cols) {
      x_row[item] = *reinterpret_cast<const Pack<float, kWidth>*>(x + row * cols + c);
    }
  }
  float m = x[row * cols];
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int c = (item * kThreads + threadIdx.x) * kWidth;
    if (c < cols) {
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        m = fmaxf(m, x_row[item].lane[lane]);
      }
    }
  }
  m = block_max(m);
  float s = 0.0f;
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int c = (item * kThreads + threadIdx.x) * kWidth;
    if (c < cols) {
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        s += expf(x_row[item].lane[lane] - m);
      }
    }
  }
  s = block_sum(s);
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int c = (item * kThreads + threadIdx.x) * kWidth;
    if (c < cols) {
      Pack<float, kWidth> y_pack;
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        y_pack.lane[lane] = expf(x_row[item].lane[lane] - m) / s;
      }
      *reinterpret_cast<Pack<float, kWidth>*>(y + row * cols + c) = y_pack;
    }
  }
}

// softmax_kernel_long_rows: a block of 128 threads per row; for rows that do not fit in the block's
// registers.
template <int kWidth>
__global__ void __launch_bounds__(128) softmax_kernel_long_rows(const float* __restrict__ x,
    float* __restrict__ y, int rows, int cols) {
  constexpr int kThreads = 128;
  const int row = blockIdx.x;
  float m = x[row * cols];
  for (int c = threadIdx.x * kWidth; c < cols; c += kThreads * kWidth) {
    const Pack<float, kWidth> x_pack =
        *reinterpret_cast<const Pack<float, kWidth>*>(x + row * cols + c);
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) {
      m = fmaxf(m, x_pack.lane[lane]);
    }
  }
  m = block_max(m);
  float s = 0.0f;
  for (int c = threadIdx.x * kWidth; c < cols; c += kThreads * kWidth) {
    const Pack<float, kWidth> x_pack =
        *reinterpret_cast<const Pack<float, kWidth>*>(x + row * cols + c);
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) {
      s += expf(x_pack.lane[lane] - m);
    }
  }
  s = block_sum(s);
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
    if (cols <= 1024) {
      softmax_kernel<4><<<rows, 128>>>(x, y, rows, cols);
    } else {
      softmax_kernel_long_rows<4><<<rows, 128>>>(x, y, rows, cols);
    }
  } else {
    if (cols <= 256) {
      softmax_kernel<1><<<rows, 128>>>(x, y, rows, cols);
    } else {
      softmax_kernel_long_rows<1><<<rows, 128>>>(x, y, rows, cols);
    }
  }
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  launch_softmax_kernel(x, y, rows, cols);
}
