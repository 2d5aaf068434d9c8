// Threads arrive at an mbarrier that nobody initialised.
// n: 64
// emulator: mbarrier
// sanitizer: synccheck
__global__ void Arrive(const float* in, float* out, int n) {
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");  // here
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" void launch(const float* in, float* out, int n) {
  Arrive<<<1, 64>>>(in, out, n);
}
