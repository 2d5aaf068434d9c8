// n: 8192
// Warp-specialised copying: one elected lane of the first warp issues bulk loads through a ring of
// mbarriers; the other warps consume. Policies, prefetches and hints on the way.
__device__ unsigned Address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ bool Elected() {
  unsigned elected = 0;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(elected));
  return elected != 0;
}
__device__ void Wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, 0x989680;\n"
      "@!done bra AGAIN;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

__global__ void Roles(const unsigned* in, unsigned* out, int tiles) {
  constexpr int kStages = 3;
  constexpr unsigned kWords = 192;
  __shared__ alignas(128) unsigned ring[kStages][kWords];
  __shared__ unsigned long long full[kStages];
  __shared__ unsigned long long empty[kStages];
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(Address(&full[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 6;" ::"r"(Address(&empty[i])) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  const unsigned* from = in + blockIdx.x * tiles * kWords;
  if (warp == 0) {
    if (Elected()) {
      unsigned long long policy = 0;
      asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], 768;" ::"l"(from) : "memory");
      for (int i = 0; i < tiles; ++i) {
        const int stage = i % kStages;
        Wait(Address(&empty[stage]), (i / kStages + 1) & 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 768;" ::"r"(
                         Address(&full[stage]))
                     : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
            "[%1], 768, [%2], %3;" ::"r"(Address(ring[stage])),
            "l"(from + i * kWords), "r"(Address(&full[stage])), "l"(policy)
            : "memory");
      }
    }
    __syncwarp();
    return;
  }
  unsigned sum = warp;
  const unsigned thread = threadIdx.x - 32;
  for (int i = 0; i < tiles; ++i) {
    const int stage = i % kStages;
    Wait(Address(&full[stage]), i / kStages & 1);
    sum = sum * 17 + ring[stage][(thread * 5) % kWords];
    __syncwarp();
    if (Elected()) {
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(Address(&empty[stage]))
                   : "memory");
    }
  }
  out[blockIdx.x * kWords + thread] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  Roles<<<4, 224>>>(in, out, n / (4 * 192));
}
