
// kWidth neighbours that move in one memory access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Pack {
  T lane[kWidth];
};

// histogram_kernel: each block collects into 32 copies of the first 256 elements of counts in
// shared memory and adds them to it once; elements beyond take a global atomic.
__global__ void __launch_bounds__(512) histogram_kernel(const int* __restrict__ data,
    unsigned int* __restrict__ counts, int n, int bins) {
  constexpr int kThreads = 512;
  constexpr int kWidth = 4;
  constexpr int kItems = 2;
  constexpr int kBins = 256;
  constexpr int kReplicas = 32;
  __shared__ unsigned int counts_copies[kBins * kReplicas];
  for (int place = threadIdx.x; place < kBins * kReplicas; place += kThreads) {
    counts_copies[place] = 0;
  }
  __syncthreads();
  const int replica = threadIdx.x % kReplicas;
  const int stride = gridDim.x * kThreads * kWidth;
  const int in_packs = reinterpret_cast<size_t>(data) % 16 == 0 ? n - n % kWidth : 0;
  int first = (blockIdx.x * kThreads + threadIdx.x) * kWidth;
  for (; in_packs - first > (kItems - 1) * stride; first += kItems * stride) {
    Pack<int, kWidth> data_pack[kItems];
#pragma unroll
    for (int item = 0; item < kItems; ++item) {
      const int i = first + item * stride;
      data_pack[item] = *reinterpret_cast<const Pack<int, kWidth>*>(data + i);
    }
#pragma unroll
    for (int item = 0; item < kItems; ++item) {
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane) {
        const int bin = data_pack[item].lane[lane];
        if (bin >= 0 && bin < bins) {
          const int slot = bin;
          if (static_cast<unsigned int>(slot) < kBins) {
            atomicAdd(&counts_copies[slot * kReplicas + replica], 1u);
          } else {
            atomicAdd(&counts[slot], 1u);
          }
        }
      }
    }
  }
  for (; first < in_packs; first += stride) {
    const Pack<int, kWidth> data_pack = *reinterpret_cast<const Pack<int, kWidth>*>(data + first);
#pragma unroll
    for (int lane = 0; lane < kWidth; ++lane) {
      const int bin = data_pack.lane[lane];
      if (bin >= 0 && bin < bins) {
        const int slot = bin;
        if (static_cast<unsigned int>(slot) < kBins) {
          atomicAdd(&counts_copies[slot * kReplicas + replica], 1u);
        } else {
          atomicAdd(&counts[slot], 1u);
        }
      }
    }
  }
  for (int i = in_packs + blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    const int bin = data[i];
    if (bin >= 0 && bin < bins) {
      const int slot = bin;
      if (static_cast<unsigned int>(slot) < kBins) {
        atomicAdd(&counts_copies[slot * kReplicas + replica], 1u);
      } else {
        atomicAdd(&counts[slot], 1u);
      }
    }
  }
  __syncthreads();
  for (int slot = threadIdx.x; slot < kBins; slot += kThreads) {
    unsigned int total = 0;
#pragma unroll 4
    for (int copy = 0; copy < kReplicas; ++copy) {
      total += counts_copies[slot * kReplicas + (copy + threadIdx.x) % kReplicas];
    }
    if (total != 0) {
      atomicAdd(&counts[slot], total);
    }
  }
}

// Launches histogram_kernel with at most 4 blocks for each of 132 multiprocessors.
static void launch_histogram_kernel(const int* data, unsigned int* counts, int n, int bins) {
  if (n <= 0) {
    return;
  }
  const int blocks = (n + 4095) / 4096;
  const int grid = blocks < 528 ? static_cast<int>(blocks) : 528;
  histogram_kernel<<<grid, 512>>>(data, counts, n, bins);
}
extern "C" void histogram(const int* data, unsigned int* counts, int n, int bins) {
  cudaMemset(counts, 0, bins * sizeof(unsigned int));
  launch_histogram_kernel(data, counts, n, bins);
}
