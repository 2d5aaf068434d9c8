// A named barrier for a number of threads that is no multiple of the warp's size.
// n: 64
// emulator: trap
// sanitizer: memcheck
__global__ void Odd(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = in[t];
  asm volatile("bar.sync 1, %0;" ::"r"(n - 24) : "memory");  // here
  out[t] = tile[63 - t];
}

extern "C" void launch(const float* in, float* out, int n) {
  Odd<<<1, 64>>>(in, out, n);
}
