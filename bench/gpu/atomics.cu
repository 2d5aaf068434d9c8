// Throughput of global reductions (atomicAdd without use of its result) against how their addresses are spread: the facts
// behind the time model's term for atomics (docs/time_model.md).
//
//   nvcc -O3 -arch=sm_90 bench/gpu/atomics.cu -o atomics && ./atomics
//
// Patterns: "lanes": each lane draws one of N places; "warp": the lanes of a warp meet on one of N places; "line": the
// lanes of a warp take 32 consecutive words, starting at one of N places. Places are `stride` words apart.
// Clock: CUDA events around one launch of 2^26 atomics, median of 5 after one to warm up.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void Check(cudaError_t status) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "atomics: %s\n", cudaGetErrorString(status));
    std::exit(3);
  }
}

enum class Pattern { kLanes, kWarp, kLine };

__device__ uint32_t Mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

template <typename T, Pattern pattern>
__global__ void Add(T* sums, uint32_t places, uint32_t stride, uint32_t count) {
  const uint32_t threads = gridDim.x * blockDim.x;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    const uint32_t drawn = Mix(pattern == Pattern::kLanes ? i : i / 32) % places;
    const uint32_t offset = pattern == Pattern::kLine ? i % 32 : 0;
    atomicAdd(&sums[drawn * stride + offset], T(1));
  }
}

template <typename T, Pattern pattern>
void Measure(const char* type, const char* name, T* sums, uint32_t places, uint32_t stride) {
  constexpr uint32_t kCount = 1U << 26;
  cudaEvent_t begin;
  cudaEvent_t end;
  Check(cudaEventCreate(&begin));
  Check(cudaEventCreate(&end));
  float times[5];
  for (int round = -1; round < 5; ++round) {
    Check(cudaEventRecord(begin));
    Add<T, pattern><<<132 * 8, 256>>>(sums, places, stride, kCount);
    Check(cudaEventRecord(end));
    Check(cudaEventSynchronize(end));
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, begin, end));
    if (round >= 0) {
      times[round] = ms;
    }
  }
  std::sort(times, times + 5);
  std::printf("%-4s %-5s places %8u stride %5u: %9.4f ms, %8.2f G lanes/s\n", type, name, places, stride, times[2],
              kCount / times[2] * 1e-6);
  Check(cudaEventDestroy(begin));
  Check(cudaEventDestroy(end));
}

template <typename T>
void MeasureType(const char* type) {
  T* sums = nullptr;
  constexpr uint32_t kWords = 1U << 26;
  Check(cudaMalloc(&sums, kWords * sizeof(T)));
  Check(cudaMemset(sums, 0, kWords * sizeof(T)));
  for (const uint32_t stride : {1U, 8U, 32U, 1024U}) {
    for (const uint32_t places : {1U, 2U, 8U, 32U, 128U, 256U, 1024U, 4096U, 16384U, 262144U, 4194304U}) {
      if (uint64_t{places} * stride + 32 > kWords) {
        continue;
      }
      Measure<T, Pattern::kLanes>(type, "lanes", sums, places, stride);
      Measure<T, Pattern::kWarp>(type, "warp", sums, places, stride);
      if (stride >= 32) {
        Measure<T, Pattern::kLine>(type, "line", sums, places, stride);
      }
    }
  }
  Check(cudaFree(sums));
}

}  // namespace

int main() {
  MeasureType<int>("s32");
  MeasureType<float>("f32");
  return 0;
}
