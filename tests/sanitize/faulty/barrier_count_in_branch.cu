// A counting barrier that only the matching threads reach.
// n: 64
// emulator: divergent barrier
// sanitizer: none
__global__ void Count(const unsigned* in, unsigned* out, int n) {
  const int t = threadIdx.x;
  out[t] = 0;
  if (in[t] % 2 == 0) {
    out[t] = __syncthreads_count(in[t] % 4 == 0);  // here
  } else {
    out[t] = in[t];
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Count<<<1, 64>>>(in, out, n);
}
