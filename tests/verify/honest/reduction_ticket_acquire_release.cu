// task: reduction
// The last block is found by a ticket that releases and acquires; no fence of its own.
#include <cuda/atomic>
__device__ unsigned int ticket_word;
__global__ void k(const float* x, float* sum, float* parts, int n) {
  __shared__ float s[4];
  __shared__ bool last;
  float v = 0.0f;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) v += x[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = (s[0] + s[1]) + (s[2] + s[3]);
    cuda::atomic_ref<unsigned int, cuda::thread_scope_device> ticket(ticket_word);
    last = ticket.fetch_add(1u, cuda::memory_order_acq_rel) == gridDim.x - 1;
    if (last) {
      float total = 0.0f;
      for (int b = 0; b < gridDim.x; ++b) total += parts[b];
      *sum = total;
      ticket.store(0u, cuda::memory_order_relaxed);
    }
  }
}
extern "C" void reduction(const float* x, float* sum, int n) {
  static float* parts;
  if (!parts) cudaMalloc(&parts, sizeof(float) * 64);
  k<<<(n + 127) / 128 < 64 ? (n + 127) / 128 : 64, 128>>>(x, sum, parts, n);
}
