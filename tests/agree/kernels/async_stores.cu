// n: 4096
// st.async and red.async: each thread sends values to another block's shared memory.
__device__ unsigned Address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ unsigned Remote(unsigned address, unsigned rank) {
  unsigned mapped = 0;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

__global__ void __cluster_dims__(2, 1, 1) Send(const unsigned* in, unsigned* out) {
  __shared__ alignas(16) unsigned box[512];
  __shared__ unsigned counts[16];
  __shared__ unsigned long long barrier;
  unsigned rank = 0;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const unsigned thread = threadIdx.x;
  if (thread < 16) {
    counts[thread] = 100 + thread;
  }
  if (thread == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(Address(&barrier)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 2560;" ::"r"(
                     Address(&barrier))
                 : "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
                   "memory");
  const unsigned other = rank ^ 1;
  const uint4 v = reinterpret_cast<const uint4*>(in)[blockIdx.x * 128 + thread];
  const unsigned remote_barrier = Remote(Address(&barrier), other);
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(Remote(Address(&box[thread * 4]), other)),
      "r"(v.x), "r"(v.y + 1), "r"(v.z + 2), "r"(v.w + 3), "r"(remote_barrier)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, "
      "[%2];" ::"r"(Remote(Address(&counts[v.x % 16]), other)),
      "r"(v.y & 255), "r"(remote_barrier)
      : "memory");
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra AGAIN;\n}" ::"r"(Address(&barrier))
      : "memory");
  for (int i = 0; i < 4; ++i) {
    out[blockIdx.x * 512 + i * 128 + thread] = box[i * 128 + thread] + counts[thread % 16];
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
                   "memory");
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Send<<<n / 512, 128>>>(in, out);
}
