// Lanes call a warp synchronisation whose mask does not name them.
// n: 32
// emulator: divergent warp instruction
// sanitizer: synccheck
__global__ void Sync(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned tile[32];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncwarp(0x0000ffffu);  // here
  __syncwarp();
  out[t] = tile[31 - t];
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Sync<<<1, 32>>>(in, out, n);
}
