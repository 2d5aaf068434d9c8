// Threads of one warp reach the barrier of a loop a different number of times.
// n: 64
// emulator: divergent barrier
// sanitizer: none
__global__ void Loop(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned tile[64];
  const int t = threadIdx.x;
  unsigned sum = 0;
  for (unsigned k = 0; k <= in[t] % 3; ++k) {
    tile[t] = in[t] + k;
    __syncthreads();  // here
    sum += tile[t];
  }
  out[t] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Loop<<<1, 64>>>(in, out, n);
}
