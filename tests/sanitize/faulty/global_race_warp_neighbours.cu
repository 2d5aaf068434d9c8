// Lanes read what other lanes of their warp store, without a warp synchronisation.
// n: 32
// emulator: race
// sanitizer: none
__global__ void Exchange(const unsigned* in, unsigned* out, int n) {
  const int t = threadIdx.x;
  out[t] = in[t];                     // here
  const unsigned other = out[t ^ 1];  // here
  __syncwarp();
  out[t] = other;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Exchange<<<1, 32>>>(in, out, n);
}
