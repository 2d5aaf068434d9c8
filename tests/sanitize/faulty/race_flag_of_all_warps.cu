// Whether a value occurs: warps write different answers to one flag.
// n: 128
// emulator: race
// sanitizer: racecheck
__global__ void Any(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned found;
  const int t = threadIdx.x;
  const unsigned mine = __any_sync(0xffffffffu, in[t] % 64 == 0 && t / 32 == 1 || t == 0);
  if (t % 32 == 0) {
    found = mine;  // here
  }
  __syncthreads();
  out[t] = found;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Any<<<1, 128>>>(in, out, n);
}
