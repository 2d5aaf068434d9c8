// Every block adds its sum to one word without an atomic.
// n: 512
// out: 4
// emulator: race
// sanitizer: none
__global__ void Sum(const unsigned* in, unsigned* out, int n) {
  const int t = threadIdx.x;
  unsigned v = in[blockIdx.x * 32 + t];
  for (int d = 16; d > 0; d /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, d);
  }
  if (t == 0) {
    out[0] += v;  // here
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, 4);
  Sum<<<16, 32>>>(in, out, n);
}
