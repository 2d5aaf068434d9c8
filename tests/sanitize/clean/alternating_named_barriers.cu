// Producers and consumers meet at two named barriers, arriving at one without waiting.
// n: 1024
__global__ void Pipe(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned tile[32];
  const int t = threadIdx.x;
  if (t < 32) {
    for (int k = 0; k < n / 32; ++k) {
      asm volatile("bar.sync 2, 64;" ::: "memory");
      tile[t] = in[k * 32 + t];
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
  } else {
    for (int k = 0; k < n / 32; ++k) {
      asm volatile("bar.arrive 2, 64;" ::: "memory");
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[k * 32 + t - 32] = tile[63 - t];
    }
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Pipe<<<1, 64>>>(in, out, n);
}
