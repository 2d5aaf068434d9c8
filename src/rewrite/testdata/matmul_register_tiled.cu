
// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

// matmul_kernel: a block computes a tile of 128 x 128 results, a thread 8 x 8 of them in registers.
// Tiles of A and B are copied to shared memory 16 steps of k at a time, the next ones while the
// present ones are used.
template <int kWidth>
__global__ void __launch_bounds__(256, 2) matmul_kernel(const float* __restrict__ A,
    const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  constexpr int kTileM = 128;
  constexpr int kTileN = 128;
  constexpr int kTileK = 16;
  constexpr int kThreads = 256;
  constexpr int kLoadsA = kTileM * kTileK / kThreads / kWidth;
  constexpr int kLoadsB = kTileN * kTileK / kThreads / kWidth;
  __shared__ alignas(16) float A_tile[2][kTileK][kTileM + 4];
  __shared__ alignas(16) float B_tile[2][kTileK][kTileN];
  const int thread = threadIdx.x;
  // A warp covers 4 x 8 threads of the tile: its reads of shared memory are few.
  const int thread_m = thread / 32 / 2 * 4 + thread % 32 / 8;
  const int thread_n = thread / 32 % 2 * 8 + thread % 8;
  const int row_begin = blockIdx.y * kTileM;
  const int col_begin = blockIdx.x * kTileN;
  Pack<float, kWidth> A_next[kLoadsA];
  Pack<float, kWidth> B_next[kLoadsB];
  // Places beyond the matrices count as zero.
  const auto load_tiles = [&](int k_begin) {
#pragma unroll
    for (int load = 0; load < kLoadsA; ++load) {
      const int pack = load * kThreads + thread;
      const int row = row_begin + pack / (kTileK / kWidth);
      const int k = k_begin + pack % (kTileK / kWidth) * kWidth;
      A_next[load] = {};
      if (row < M && k < K) {
        A_next[load] = *reinterpret_cast<const Pack<float, kWidth>*>(A + row * K + k);
      }
    }
#pragma unroll
    for (int load = 0; load < kLoadsB; ++load) {
      const int pack = load * kThreads + thread;
      const int col = col_begin + pack % (kTileN / kWidth) * kWidth;
      const int k = k_begin + pack / (kTileN / kWidth);
      B_next[load] = {};
      if (col < N && k < K) {
        B_next[load] = *reinterpret_cast<const Pack<float, kWidth>*>(B + k * N + col);
      }
    }
  };
  const auto store_tiles = [&](int buffer) {
#pragma unroll
    for (int load = 0; load < kLoadsA; ++load) {
      const int pack = load * kThreads + thread;
      const int place = pack / (kTileK / kWidth);
      const int step = pack % (kTileK / kWidth) * kWidth;
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        A_tile[buffer][step + lane][place] = A_next[load].lane[lane];
      }
    }
#pragma unroll
    for (int load = 0; load < kLoadsB; ++load) {
      const int pack = load * kThreads + thread;
      const int place = pack % (kTileN / kWidth) * kWidth;
      const int step = pack / (kTileN / kWidth);
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        B_tile[buffer][step][place + lane] = B_next[load].lane[lane];
      }
    }
  };

  float acc_tile[8][8] = {};
  load_tiles(0);
  store_tiles(0);
  __syncthreads();
  int buffer = 0;
  for (int k_begin = 0; k_begin < K; k_begin += kTileK) {
    const bool more = K - k_begin > kTileK;
    if (more) {
      load_tiles(k_begin + kTileK);
    }
#pragma unroll
    for (int step = 0; step < kTileK; ++step) {
      Pack<float, 4> A_part[2];
#pragma unroll
      for (int group = 0; group < 2; ++group) {
        A_part[group] = *reinterpret_cast<const Pack<float, 4>*>(&A_tile[buffer][step][group * 64 +
            thread_m * 4]);
      }
      Pack<float, 4> B_part[2];
#pragma unroll
      for (int group = 0; group < 2; ++group) {
        B_part[group] = *reinterpret_cast<const Pack<float, 4>*>(&B_tile[buffer][step][group * 64 +
            thread_n * 4]);
      }
#pragma unroll
      for (int mi = 0; mi < 8; ++mi) {
#pragma unroll
        for (int ni = 0; ni < 8; ++ni) {
          acc_tile[mi][ni] += A_part[mi / 4].lane[mi % 4] * B_part[ni / 4].lane[ni % 4];
        }
      }
    }
    if (more) {
      buffer = 1 - buffer;
      store_tiles(buffer);
      __syncthreads();
    }
  }

#pragma unroll
  for (int mi = 0; mi < 8; ++mi) {
    const int row = row_begin + mi / 4 * 64 + thread_m * 4 + mi % 4;
#pragma unroll
    for (int group = 0; group < 2; ++group) {
#pragma unroll
      for (int part = 0; part < 4; part += kWidth) {
        const int col = col_begin + group * 64 + thread_n * 4 + part;
        if (row < M && col < N) {
          Pack<float, kWidth> C_pack;
#pragma unroll
          for (int lane = 0; lane < kWidth; ++lane) {
            const float acc = acc_tile[mi][group * 4 + part + lane];
            C_pack.lane[lane] = acc;
          }
          *reinterpret_cast<Pack<float, kWidth>*>(C + row * N + col) = C_pack;
        }
      }
    }
  }
}

// Launches matmul_kernel with one block per tile of results.
static void launch_matmul_kernel(const float* A, const float* B, float* C, int M, int N, int K) {
  if (M <= 0 || N <= 0) {
    return;
  }
  const dim3 grid((N + 127) / 128, (M + 127) / 128);
  if (K % 4 == 0 && N % 4 == 0 && reinterpret_cast<size_t>(A) % 16 == 0 &&
      reinterpret_cast<size_t>(B) % 16 == 0 && reinterpret_cast<size_t>(C) % 16 == 0) {
    matmul_kernel<4><<<grid, 256>>>(A, B, C, M, N, K);
  } else {
    matmul_kernel<1><<<grid, 256>>>(A, B, C, M, N, K);
  }
}
extern "C" void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 block(16, 16);
  dim3 grid((N + 15) / 16, (M + 15) / 16);
  launch_matmul_kernel(A, B, C, M, N, K);
}
