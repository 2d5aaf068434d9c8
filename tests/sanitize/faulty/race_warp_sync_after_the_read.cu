// The warp synchronisation stands on the wrong side of the read.
// n: 128
// emulator: race
// sanitizer: racecheck
__global__ void Exchange(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned tile[128];
  const int t = threadIdx.x;
  __syncwarp();
  tile[t] = in[t];                     // here
  const unsigned other = tile[t ^ 1];  // here
  __syncwarp();
  out[t] = other;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Exchange<<<1, 128>>>(in, out, n);
}
