// A volatile read of a flag that has no place.
// n: 32
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Poll(const unsigned* in, volatile unsigned* out, int n) {
  const int t = threadIdx.x;
  out[t] = in[t];
  __syncthreads();
  if (t == 0) {
    out[0] = out[n + 7];  // here
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Poll<<<1, 32>>>(in, out, n);
}
