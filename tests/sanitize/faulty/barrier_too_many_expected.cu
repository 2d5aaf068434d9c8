// A named barrier waits for more threads than the block has.
// n: 64
// emulator: deadlock
// sanitizer: hang
__global__ void Wait(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = in[t];
  asm volatile("bar.sync 1, %0;" ::"r"(n + 32) : "memory");  // here
  out[t] = tile[63 - t];
}

extern "C" void launch(const float* in, float* out, int n) {
  Wait<<<1, 64>>>(in, out, n);
}
