// What one warp's request to global memory costs, by the distance of its lanes and by where the data lies: the facts behind
// the time model's terms for L1, L2 and device memory (docs/time_model.md).
//
//   nvcc -O3 -arch=sm_90 bench/gpu/access.cu -o access && ./access
//
// "l1": every SM reads 64 KB of its own again and again; "l2": all read 24 MB that fit in L2, past L1; "dram": each reads
// what nobody has read; "store": each lane stores its word, and neighbours follow a step later, as a naive transposition
// does; "walk": each lane walks along a row of its own. Clocks are those of an SM for one request, from its own counter; GB/s
// counts the bytes that lanes asked for.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kSms = 132;
constexpr int kThreads = 1024;
constexpr int kBlocks = kSms;
constexpr uint64_t kBytes = uint64_t{1} << 32;
constexpr uint64_t kOfBlock = kBytes / kBlocks / 4096 * 4096;

void Check(cudaError_t status) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "access: %s\n", cudaGetErrorString(status));
    std::exit(3);
  }
}

template <typename T>
__device__ float Sum(T v) {
  if constexpr (sizeof(T) == 4) {
    return v;
  } else if constexpr (sizeof(T) == 8) {
    return v.x + v.y;
  } else {
    return v.x + v.y + v.z + v.w;
  }
}

// Requests of a warp are `span` = 32 * stride bytes apart; a block has `footprint` bytes (a power of two) of its own, or all
// share them.
template <typename T, bool past_l1>
__global__ void __launch_bounds__(kThreads, 1) Load(const char* data, uint64_t stride, uint64_t footprint, uint64_t block_apart, int steps, float* out,
                     long long* clocks) {
  const uint64_t span = 32 * stride;
  const uint64_t warp = threadIdx.x / 32;
  const char* base = data + blockIdx.x * block_apart + threadIdx.x % 32 * stride;
  uint64_t at = warp * span;
  float sum = 0;
  __syncthreads();
  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const T* p = reinterpret_cast<const T*>(base + (at & (footprint - 1)));
      sum += Sum(past_l1 ? __ldcg(p) : *p);
      at += blockDim.x / 32 * span;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    clocks[blockIdx.x] = clock64() - begin;
  }
  if (sum == 1234.5F) {
    *out = sum;
  }
}

// Lane l of a warp stores word `column` of its row; columns follow each other over time.
__global__ void Store(float* data, uint64_t row_words, uint64_t rows) {
  const uint64_t thread = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  const uint64_t row = thread % rows;
  const uint64_t column = thread / rows;
  data[row * row_words + column] = 1.0F;
}

__global__ void Walk(const float* data, uint64_t row_words, float* out) {
  const uint64_t thread = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  float sum = 0;
  for (uint64_t i = 0; i < row_words; ++i) {
    sum += data[thread * row_words + i];
  }
  if (sum == 1234.5F) {
    *out = sum;
  }
}

template <typename F>
float Milliseconds(F launch) {
  cudaEvent_t begin;
  cudaEvent_t end;
  Check(cudaEventCreate(&begin));
  Check(cudaEventCreate(&end));
  float best = 1e30F;
  for (int round = 0; round < 4; ++round) {
    Check(cudaEventRecord(begin));
    launch();
    Check(cudaGetLastError());
    Check(cudaEventRecord(end));
    Check(cudaEventSynchronize(end));
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, begin, end));
    best = ms < best ? ms : best;
  }
  return best;
}

template <typename T>
void Loads(const char* data, float* out, long long* clocks) {
  for (const uint64_t lanes : {1, 2, 3, 4, 8, 16, 32, 256, 1024}) {
    if (lanes == 3 && sizeof(T) != 4) {
      continue;  // would not stay aligned where the footprint wraps
    }
    const uint64_t stride = sizeof(T) * lanes;
    const auto report = [&](const char* where, int steps, float ms) {
      long long host[kBlocks];
      Check(cudaMemcpy(host, clocks, sizeof(host), cudaMemcpyDeviceToHost));
      double sum = 0;
      for (const long long c : host) {
        sum += static_cast<double>(c);
      }
      const double requests = kThreads / 32.0 * steps * 8;  // of one SM
      std::printf("%-5s width %2zu stride %6llu: %8.2f clocks a request, %9.1f GB/s\n", where, sizeof(T),
                  static_cast<unsigned long long>(stride), sum / kBlocks / requests,
                  requests * kSms * 32 * sizeof(T) / ms * 1e-6);
    };
    if (stride <= 1024) {
      const float l1 = Milliseconds(
          [&] { Load<T, false><<<kBlocks, kThreads>>>(data, stride, 1 << 16, 1 << 16, 64, out, clocks); });
      report("l1", 64, l1);
    }
    const float l2 = Milliseconds([&] { Load<T, true><<<kBlocks, kThreads>>>(data, stride, 1 << 24, 0, 16, out, clocks); });
    report("l2", 16, l2);
    if (stride * kThreads * 8 * 4 <= kOfBlock) {
      const float dram =
          Milliseconds([&] { Load<T, true><<<kBlocks, kThreads>>>(data, stride, kBytes, kOfBlock, 4, out, clocks); });
      report("dram", 4, dram);
    }
  }
}

}  // namespace

int main() {
  char* data = nullptr;
  float* out = nullptr;
  long long* clocks = nullptr;
  Check(cudaMalloc(&data, 2 * kBytes));
  Check(cudaMemset(data, 0, 2 * kBytes));
  Check(cudaMalloc(&out, sizeof(float)));
  Check(cudaMalloc(&clocks, kBlocks * sizeof(long long)));
  Loads<float>(data, out, clocks);
  Loads<float2>(data, out, clocks);
  Loads<float4>(data, out, clocks);
  for (const uint64_t rows : {uint64_t{1024}, uint64_t{4096}, uint64_t{8192}, uint64_t{16384}}) {
    const float ms = Milliseconds([&] {
      Store<<<static_cast<unsigned>(rows * rows / 256), 256>>>(reinterpret_cast<float*>(data), rows, rows);
    });
    std::printf("store rows %6llu: %9.4f ms, %9.1f GB/s\n", static_cast<unsigned long long>(rows), ms,
                static_cast<double>(rows * rows * 4) / ms * 1e-6);
  }
  for (const unsigned threads : {2048U, 4096U, 8192U, 16384U, 65536U, 262144U}) {
    for (const uint64_t words : {uint64_t{1024}, uint64_t{2048}, uint64_t{8192}}) {
      if (threads * words * 4 > 2 * kBytes) {
        continue;
      }
      const float ms =
          Milliseconds([&] { Walk<<<threads / 64, 64>>>(reinterpret_cast<const float*>(data), words, out); });
      std::printf("walk threads %7u words %5llu: %9.4f ms, %9.1f GB/s, %7.1f clocks a step\n", threads,
                  static_cast<unsigned long long>(words), ms, static_cast<double>(threads * words * 4) / ms * 1e-6,
                  ms * 1.98e6 / static_cast<double>(words));
    }
  }
  Check(cudaDeviceSynchronize());
  return 0;
}
