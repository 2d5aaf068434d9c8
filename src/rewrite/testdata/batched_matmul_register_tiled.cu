
// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

// bmm_kernel: a block computes a tile of 64 x 64 results, a thread 4 x 4 of them in registers.
// Tiles of a and b are copied to shared memory 16 steps of p at a time, the next ones while the
// present ones are used.
template <int kWidth>
__global__ void __launch_bounds__(256) bmm_kernel(const float* __restrict__ a,
    const float* __restrict__ b, float* __restrict__ c, int batch, int m, int n, int k,
    float alpha, float beta) {
  constexpr int kTileM = 64;
  constexpr int kTileN = 64;
  constexpr int kTileK = 16;
  constexpr int kThreads = 256;
  constexpr int kLoadsA = kTileM * kTileK / kThreads / kWidth;
  constexpr int kLoadsB = kTileN * kTileK / kThreads / kWidth;
  __shared__ alignas(16) float a_tile[2][kTileK][kTileM];
  __shared__ alignas(16) float b_tile[2][kTileK][kTileN + 4];
  const int thread = threadIdx.x;
  // A warp covers 4 x 8 threads of the tile: its reads of shared memory are few.
  const int thread_m = thread / 32 / 2 * 4 + thread % 32 / 8;
  const int thread_n = thread / 32 % 2 * 8 + thread % 8;
  const int i_begin = blockIdx.y * kTileM;
  const int j_begin = blockIdx.x * kTileN;
  const int s = blockIdx.z;
  Pack<float, kWidth> a_next[kLoadsA];
  Pack<float, kWidth> b_next[kLoadsB];
  // Places beyond the matrices count as zero.
  const auto load_tiles = [&](int p_begin) {
#pragma unroll
    for (int load = 0; load < kLoadsA; ++load) {
      const int pack = load * kThreads + thread;
      const int i = i_begin + pack % (kTileM / kWidth) * kWidth;
      const int p = p_begin + pack / (kTileM / kWidth);
      a_next[load] = {};
      if (i < m && p < k) {
        a_next[load] = *reinterpret_cast<const Pack<float, kWidth>*>(a + s * m * k + p * m + i);
      }
    }
#pragma unroll
    for (int load = 0; load < kLoadsB; ++load) {
      const int pack = load * kThreads + thread;
      const int j = j_begin + pack / (kTileK / kWidth);
      const int p = p_begin + pack % (kTileK / kWidth) * kWidth;
      b_next[load] = {};
      if (j < n && p < k) {
        b_next[load] = *reinterpret_cast<const Pack<float, kWidth>*>(b + s * n * k + j * k + p);
      }
    }
  };
  const auto store_tiles = [&](int buffer) {
#pragma unroll
    for (int load = 0; load < kLoadsA; ++load) {
      const int pack = load * kThreads + thread;
      const int place = pack % (kTileM / kWidth) * kWidth;
      const int step = pack / (kTileM / kWidth);
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        a_tile[buffer][step][place + lane] = a_next[load].lane[lane];
      }
    }
#pragma unroll
    for (int load = 0; load < kLoadsB; ++load) {
      const int pack = load * kThreads + thread;
      const int place = pack / (kTileK / kWidth);
      const int step = pack % (kTileK / kWidth) * kWidth;
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        b_tile[buffer][step + lane][place] = b_next[load].lane[lane];
      }
    }
  };

  float acc_tile[4][4] = {};
  load_tiles(0);
  store_tiles(0);
  __syncthreads();
  int buffer = 0;
  for (int p_begin = 0; p_begin < k; p_begin += kTileK) {
    const bool more = k - p_begin > kTileK;
    if (more) {
      load_tiles(p_begin + kTileK);
    }
#pragma unroll
    for (int step = 0; step < kTileK; ++step) {
      Pack<float, 4> a_part[1];
#pragma unroll
      for (int group = 0; group < 1; ++group) {
        a_part[group] = *reinterpret_cast<const Pack<float, 4>*>(&a_tile[buffer][step][group * 64 +
            thread_m * 4]);
      }
      Pack<float, 4> b_part[1];
#pragma unroll
      for (int group = 0; group < 1; ++group) {
        b_part[group] = *reinterpret_cast<const Pack<float, 4>*>(&b_tile[buffer][step][group * 64 +
            thread_n * 4]);
      }
#pragma unroll
      for (int mi = 0; mi < 4; ++mi) {
#pragma unroll
        for (int ni = 0; ni < 4; ++ni) {
          acc_tile[mi][ni] += a_part[mi / 4].lane[mi % 4] * b_part[ni / 4].lane[ni % 4];
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
  for (int mi = 0; mi < 4; ++mi) {
    const int i = i_begin + mi / 4 * 64 + thread_m * 4 + mi % 4;
#pragma unroll
    for (int group = 0; group < 1; ++group) {
#pragma unroll
      for (int part = 0; part < 4; part += kWidth) {
        const int j = j_begin + group * 64 + thread_n * 4 + part;
        if (i < m && j < n) {
          const Pack<float, kWidth> c_pack =
              *reinterpret_cast<const Pack<float, kWidth>*>(c + s * m * n + i * n + j);
          Pack<float, kWidth> c_out;
#pragma unroll
          for (int lane = 0; lane < kWidth; ++lane) {
            const float acc = acc_tile[mi][group * 4 + part + lane];
            c_out.lane[lane] = alpha * acc + beta * c_pack.lane[lane];
          }
          *reinterpret_cast<Pack<float, kWidth>*>(c + s * m * n + i * n + j) = c_out;
        }
      }
    }
  }
}

// Launches bmm_kernel with one block per tile of results.
static void launch_bmm_kernel(const float* a, const float* b, float* c, int batch, int m, int n,
    int k, float alpha, float beta) {
  if (batch <= 0 || m <= 0 || n <= 0) {
    return;
  }
  const dim3 grid((n + 63) / 64, (m + 63) / 64, batch);
  if (k % 4 == 0 && m % 4 == 0 && n % 4 == 0 && reinterpret_cast<size_t>(a) % 16 == 0 &&
      reinterpret_cast<size_t>(b) % 16 == 0 && reinterpret_cast<size_t>(c) % 16 == 0) {
    bmm_kernel<4><<<grid, 256>>>(a, b, c, batch, m, n, k, alpha, beta);
  } else {
    bmm_kernel<1><<<grid, 256>>>(a, b, c, batch, m, n, k, alpha, beta);
  }
}
extern "C" void bmm(const float* a, const float* b, float* c, int batch, int m, int n, int k,
                    float alpha, float beta) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (m + 15) / 16, batch);
  launch_bmm_kernel(a, b, c, batch, m, n, k, alpha, beta);
}
