// n: 4096
// cuda::barrier: copies that complete at it, arrivals apart from waits.
#include <cooperative_groups.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;

__global__ void Reverse(const unsigned* in, unsigned* out) {
  __shared__ unsigned buffer[512];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    init(&barrier, block.size());
  }
  block.sync();
  unsigned mixed = threadIdx.x;
  for (int round = 0; round < 4; ++round) {
    const unsigned* from = in + (blockIdx.x * 4 + round) % 8 * 512;
    cuda::memcpy_async(buffer + threadIdx.x, from + threadIdx.x, sizeof(unsigned), barrier);
    cuda::memcpy_async(buffer + 256 + threadIdx.x, from + 256 + threadIdx.x, sizeof(unsigned),
                       barrier);
    auto token = barrier.arrive();
    mixed = mixed * 1664525u + 1013904223u;
    barrier.wait(std::move(token));
    mixed ^= buffer[511 - threadIdx.x];
    mixed += buffer[threadIdx.x];
    barrier.arrive_and_wait();
  }
  out[blockIdx.x * 256 + threadIdx.x] = mixed;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Reverse<<<n / 256, 256>>>(in, out);
}
