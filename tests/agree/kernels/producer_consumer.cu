// n: 4096
// A ring of four stages between one producer warp and three consumer warps: mbarriers in PTX.
__device__ unsigned Address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void Init(unsigned long long* barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(Address(barrier)), "r"(count)
               : "memory");
}
__device__ void Arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(Address(barrier))
               : "memory");
}
__device__ void Wait(unsigned long long* barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
      "@done bra.uni LEAVE;\nbra.uni AGAIN;\nLEAVE:\n}" ::"r"(Address(barrier)),
      "r"(parity)
      : "memory");
}

__global__ void Ring(const unsigned* in, unsigned* out, int items) {
  constexpr int kStages = 4;
  __shared__ unsigned data[kStages][32];
  __shared__ unsigned long long full[kStages];
  __shared__ unsigned long long empty[kStages];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      Init(&full[i], 32);
      Init(&empty[i], 3);
    }
  }
  __syncthreads();
  const unsigned* from = in + blockIdx.x * items * 32;
  if (warp == 0) {
    for (int i = 0; i < items; ++i) {
      const int stage = i % kStages;
      Wait(&empty[stage], (i / kStages + 1) & 1);
      data[stage][lane] = from[i * 32 + lane] * 2654435761u;
      Arrive(&full[stage]);
    }
    return;
  }
  unsigned sum = 0;
  for (int i = 0; i < items; ++i) {
    const int stage = i % kStages;
    Wait(&full[stage], i / kStages & 1);
    sum = (sum << 1 | sum >> 31) + data[stage][(lane + warp) % 32];
    __syncwarp();
    if (lane == 0) {
      Arrive(&empty[stage]);
    }
  }
  out[blockIdx.x * 96 + (warp - 1) * 32 + lane] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  Ring<<<8, 128>>>(in, out, n / 256);
}
