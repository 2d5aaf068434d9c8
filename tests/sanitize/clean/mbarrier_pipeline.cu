// One warp produces, three consume, with two mbarriers a stage.
// n: 1024
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

__global__ void Ring(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned data[2][32];
  __shared__ unsigned long long full[2];
  __shared__ unsigned long long empty[2];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      Init(&full[i], 32);
      Init(&empty[i], 96);
    }
  }
  __syncthreads();
  if (warp == 0) {
    for (int i = 0; i < n / 32; ++i) {
      Wait(&empty[i % 2], (i / 2 + 1) & 1);
      data[i % 2][lane] = in[i * 32 + lane];
      Arrive(&full[i % 2]);
    }
    return;
  }
  unsigned sum = 0;
  for (int i = 0; i < n / 32; ++i) {
    Wait(&full[i % 2], i / 2 & 1);
    sum += data[i % 2][31 - lane];
    Arrive(&empty[i % 2]);
  }
  out[threadIdx.x - 32] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Ring<<<1, 128>>>(in, out, n);
}
