// The mask of a shuffle does not name the upper lanes, which call it.
// n: 32
// emulator: divergent warp instruction
// sanitizer: none
__global__ void Sum(const unsigned* in, unsigned* out, int n) {
  const int t = threadIdx.x;
  unsigned v = in[t];
  v += __shfl_xor_sync(0x0000ffffu, v, 8);  // here
  out[t] = v;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Sum<<<1, 32>>>(in, out, n);
}
