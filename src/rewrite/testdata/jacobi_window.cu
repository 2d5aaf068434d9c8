
// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

// jacobi_kernel: a thread computes 2 x 4 neighbouring points from a window of in that it holds in
// registers. Points at the border take the general form, spread over the threads of a block.
__global__ void __launch_bounds__(256) jacobi_kernel(const float* __restrict__ in,
    float* __restrict__ out, int h, int w) {
  constexpr int kColumns = 4;
  constexpr int kRows = 2;
  const int blocks_x = (w + 127) / 128;
  const int x_block = blockIdx.x % blocks_x * 128;
  const int x_first = x_block + threadIdx.x * kColumns;
  const int y_block = blockIdx.x / blocks_x * 16;
  const int y_first = y_block + threadIdx.y * kRows;
  const int place_in_block = threadIdx.y * 32 + threadIdx.x;
  __shared__ int border_count;
  __shared__ short border_threads[256];
  if (place_in_block == 0) {
    border_count = 0;
  }
  __syncthreads();
  if (x_first + 3 < w && y_first + 1 < h && x_first > 0 && y_first > 0 && x_first + 3 < w - 1 &&
      y_first + 1 < h - 1 && w % 4 == 0 && reinterpret_cast<size_t>(in) % 16 == 0 &&
      reinterpret_cast<size_t>(out) % 16 == 0) {
    float in_window[4][6];
#pragma unroll
    for (int wy = 0; wy < 4; ++wy) {
      const float* from = in + (y_first + wy - 1) * w + x_first;
      Pack<float, 4> centre[kColumns / 4];
#pragma unroll
      for (int group = 0; group < kColumns / 4; ++group) {
        centre[group] = *reinterpret_cast<const Pack<float, 4>*>(from + group * 4);
      }
#pragma unroll
      for (int wx = 0; wx < 6; ++wx) {
        const int place = wx - 1;
        in_window[wy][wx] = place >= 0 && place < kColumns ? centre[place / 4].lane[place % 4]
            : from[place];
      }
    }
#pragma unroll
    for (int wy = 0; wy < kRows; ++wy) {
      const int y = y_first + wy;
      Pack<float, 4> results;
#pragma unroll
      for (int wx = 0; wx < kColumns; ++wx) {
        const int x = x_first + wx;
        results.lane[wx] = 0.2f * (in_window[wy + 1][wx + 1] + in_window[wy + 1][wx] +
            in_window[wy + 1][wx + 2] + in_window[wy][wx + 1] + in_window[wy + 2][wx + 1]);
      }
      *reinterpret_cast<Pack<float, 4>*>(out + y * w + x_first) = results;
    }
  } else if (x_first < w && y_first < h) {
    border_threads[atomicAdd(&border_count, 1)] = place_in_block;
  }
  __syncthreads();
  for (int point = place_in_block; point < border_count * (kRows * kColumns); point += 256) {
    const int owner = border_threads[point / (kRows * kColumns)];
    const int y = y_block + owner / 32 * kRows + point / kColumns % kRows;
    const int x = x_block + owner % 32 * kColumns + point % kColumns;
    if (x < w && y < h) {
      out[y * w + x] = x == 0 || y == 0 || x == w - 1 || y == h - 1 ? in[y * w + x] : 0.2f *
          (in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1] + in[y * w + x + -w] +
          in[y * w + x + w]);
    }
  }
}

// Launches jacobi_kernel; a block of threads computes 16 x 128 points.
static void launch_jacobi_kernel(const float* in, float* out, int h, int w) {
  if (h <= 0 || w <= 0) {
    return;
  }
  const int blocks = ((w + 127) / 128) * ((h + 15) / 16);
  jacobi_kernel<<<blocks, dim3(32, 8)>>>(in, out, h, w);
}
extern "C" void jacobi(const float* in, float* out, int h, int w) {
  dim3 block(16, 16);
  dim3 grid((w + 15) / 16, (h + 15) / 16);
  launch_jacobi_kernel(in, out, h, w);
}
