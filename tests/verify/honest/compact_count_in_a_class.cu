// task: compact
// launcher: host mode
// timed: compared
// Counts of blocks, their places, and a grid of as many blocks as there is something to write for.
#include <memory>
struct Free {
  void operator()(void* pointer) const { cudaFree(pointer); }
};
using Scratch = std::unique_ptr<int, Free>;
Scratch Allocate(size_t count) {
  void* pointer = nullptr;
  cudaMalloc(&pointer, count * sizeof(int));
  return Scratch(static_cast<int*>(pointer));
}

__global__ void count(const int* x, int* counts, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  int kept = __syncthreads_count(i < n && x[i] % 2 == 0);
  if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}
__global__ void places(int* counts, int* total, int blocks) {
  int sum = 0;
  for (int b = 0; b < blocks; ++b) {
    int kept = counts[b];
    counts[b] = sum;
    sum += kept;
  }
  *total = sum;
}
__global__ void gather(const int* x, const int* counts, int* kept, int n) {
  __shared__ int warps[4];
  int i = blockIdx.x * 128 + threadIdx.x;
  int keep = i < n && x[i] % 2 == 0;
  unsigned mask = __ballot_sync(~0u, keep);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = __popc(mask);
  __syncthreads();
  int at = counts[blockIdx.x] + __popc(mask & ((1u << threadIdx.x % 32) - 1));
  for (int w = 0; w < threadIdx.x / 32; ++w) at += warps[w];
  if (keep) kept[at] = i;
}
__global__ void square(const int* x, const int* kept, int* y, int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) y[i] = x[kept[i]] * x[kept[i]];
}

extern "C" void compact(const int* x, int* y, int n) {
  const int blocks = (n + 127) / 128;
  const Scratch counts = Allocate(blocks);
  const Scratch total = Allocate(1);
  cudaMemset(y, 0xff, n * sizeof(int));
  count<<<blocks, 128>>>(x, counts.get(), n);
  places<<<1, 1>>>(counts.get(), total.get(), blocks);
  int length = 0;
  cudaMemcpy(&length, total.get(), sizeof(int), cudaMemcpyDeviceToHost);
  if (length == 0) return;
  const Scratch kept = Allocate(length);
  gather<<<blocks, 128>>>(x, counts.get(), kept.get(), n);
  square<<<(length + 255) / 256, 256>>>(x, kept.get(), y, length);
}
