// n: 4096
// Blocks of a cluster pass tiles around: a multicast that starts it, bulk copies between their shared
// memories, arrivals at an mbarrier of another block.
__device__ unsigned Address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ unsigned Remote(unsigned address, unsigned rank) {
  unsigned mapped = 0;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}
__device__ void Wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra AGAIN;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ void ClusterSync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
                   "memory");
}
__device__ void ExpectBytes(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}

__global__ void __cluster_dims__(4, 1, 1) Pass(const unsigned* in, unsigned* out, int rounds) {
  __shared__ alignas(128) unsigned tile[2][128];
  __shared__ unsigned results[128];
  __shared__ unsigned long long full[2];
  __shared__ unsigned long long done;
  unsigned rank = 0;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const unsigned thread = threadIdx.x;
  if (thread == 0) {
    for (int i = 0; i < 2; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(Address(&full[i])) : "memory");
    }
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 512;" ::"r"(Address(&done)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    ExpectBytes(Address(&full[0]), 512);
  }
  ClusterSync();
  if (rank == 0 && thread == 0) {
    asm volatile(
        "{\n.reg .b16 mask;\nmov.b16 mask, 15;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1], 512, [%2], mask;\n}" ::"r"(Address(tile[0])),
        "l"(in + blockIdx.x / 4 * 128), "r"(Address(&full[0]))
        : "memory");
  }
  const unsigned next = (rank + 1) % 4;
  unsigned mixed = rank;
  for (int round = 0; round < rounds; ++round) {
    const int stage = round & 1;
    const int other = stage ^ 1;
    Wait(Address(&full[stage]), round / 2 & 1);
    mixed = mixed * 31 + tile[stage][(thread + rank) % 128];
    __syncthreads();
    tile[stage][thread] += rank + 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (thread == 0 && round + 1 < rounds) {
      ExpectBytes(Address(&full[other]), 512);
    }
    // All copies of the round before have landed, and nobody needs the other tile any more.
    ClusterSync();
    if (thread == 0 && round + 1 < rounds) {
      asm volatile(
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 512, "
          "[%2];" ::"r"(Remote(Address(tile[other]), next)),
          "r"(Address(tile[stage])), "r"(Remote(Address(&full[other]), next))
          : "memory");
    }
  }
  // The first block waits for all threads of the cluster and adds up what they have.
  results[thread] = mixed;
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                   Remote(Address(&done), 0))
               : "memory");
  if (rank == 0) {
    Wait(Address(&done), 0);
    for (unsigned other = 1; other < 4; ++other) {
      unsigned theirs = 0;
      asm volatile("ld.shared::cluster.u32 %0, [%1];"
                   : "=r"(theirs)
                   : "r"(Remote(Address(&results[thread]), other)));
      mixed = mixed * 3 + theirs;
    }
  }
  ClusterSync();
  out[blockIdx.x * 128 + thread] = mixed;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  Pass<<<16, 128>>>(in, out, 9);
}
