// task: suite/sort
// Floats as ordered integers, four bits a pass: counts by block, their prefix, a stable scatter.
#include <cstdint>
#include <cuda_runtime.h>
constexpr int kBlock = 64;
__global__ void encode(const float* x, uint32_t* keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int32_t bits = __float_as_int(x[i]);
  keys[i] = static_cast<uint32_t>(bits ^ (bits >> 31 | INT32_MIN));
}
__global__ void decode(const uint32_t* keys, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int32_t key = static_cast<int32_t>(keys[i]);
  y[i] = __int_as_float(key ^ (~key >> 31 | INT32_MIN));
}
__global__ void count(const uint32_t* keys, uint32_t* counts, int n, int shift) {
  __shared__ uint32_t c[16];
  if (threadIdx.x < 16) c[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(&c[keys[i] >> shift & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = c[threadIdx.x];
}
__global__ void prefix(uint32_t* counts, int n) {
  const int lane = threadIdx.x;
  uint32_t carry = 0;
  for (int base = 0; base < n; base += 32) {
    const uint32_t v = base + lane < n ? counts[base + lane] : 0u;
    uint32_t s = v;
    for (int d = 1; d < 32; d *= 2) {
      const uint32_t o = __shfl_up_sync(~0u, s, d);
      if (lane >= d) s += o;
    }
    if (base + lane < n) counts[base + lane] = carry + s - v;
    carry += __shfl_sync(~0u, s, 31);
  }
}
__global__ void scatter(const uint32_t* keys, uint32_t* to, const uint32_t* counts, int n, int shift) {
  __shared__ uint32_t first_warp[16];
  const int i = blockIdx.x * kBlock + threadIdx.x, lane = threadIdx.x % 32;
  if (threadIdx.x < 16) first_warp[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t digit = i < n ? keys[i] >> shift & 15 : 16;
  uint32_t peers = ~0u;
#pragma unroll
  for (int b = 0; b < 5; ++b) {
    const uint32_t vote = __ballot_sync(~0u, digit >> b & 1);
    peers &= digit >> b & 1 ? vote : ~vote;
  }
  const uint32_t rank = __popc(peers & ((1u << lane) - 1));
  if (threadIdx.x < 32 && i < n && rank == 0) first_warp[digit] = __popc(peers);
  __syncthreads();
  if (i < n) to[counts[digit * gridDim.x + blockIdx.x] + rank + (threadIdx.x < 32 ? 0 : first_warp[digit])] = keys[i];
}
extern "C" void sort(const float* x, float* y, int n) {
  const int blocks = (n + kBlock - 1) / kBlock;
  uint32_t *a, *b, *counts;
  cudaMalloc(&a, sizeof(uint32_t) * n);
  cudaMalloc(&b, sizeof(uint32_t) * n);
  cudaMalloc(&counts, sizeof(uint32_t) * 16 * blocks);
  encode<<<blocks, kBlock>>>(x, a, n);
  for (int shift = 0; shift < 32; shift += 4) {
    count<<<blocks, kBlock>>>(a, counts, n, shift);
    prefix<<<1, 32>>>(counts, 16 * blocks);
    scatter<<<blocks, kBlock>>>(a, b, counts, n, shift);
    uint32_t* t = a;
    a = b;
    b = t;
  }
  decode<<<blocks, kBlock>>>(a, y, n);
  cudaFree(counts);
  cudaFree(b);
  cudaFree(a);
}
