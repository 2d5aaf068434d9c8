// n: 8192
// Bulk copies of 1024 words in and out, and reductions into global memory.
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

__global__ void Scale(const unsigned* in, unsigned* out, int tiles) {
  __shared__ alignas(128) unsigned tile[1024];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
      cde::cp_async_bulk_global_to_shared(tile, in + i * 1024, sizeof(tile), barrier);
      token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof(tile));
    } else {
      token = barrier.arrive();
    }
    barrier.wait(std::move(token));
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
      tile[k] = tile[k] * 3 + static_cast<unsigned>(k);
    }
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
      cde::cp_async_bulk_shared_to_global(out + i * 1024, tile, sizeof(tile));
      cde::cp_async_bulk_commit_group();
      cde::cp_async_bulk_wait_group_read<0>();
    }
    __syncthreads();
  }
}

// Adds each block's words to the same 512 words of out.
__global__ void Add(const unsigned* in, unsigned* out) {
  __shared__ alignas(16) unsigned tile[512];
  for (int k = threadIdx.x; k < 512; k += blockDim.x) {
    tile[k] = in[blockIdx.x * 512 + k] >> 8;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    const auto from = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 1024;\n"
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%0 + 1024], [%1 + 1024], "
        "1024;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(out),
        "r"(from)
        : "memory");
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Scale<<<3, 128>>>(in, out, n / 1024);
  Add<<<n / 512, 128>>>(in, out);
}
