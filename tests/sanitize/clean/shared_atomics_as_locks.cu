// A lock in shared memory for each bin.
// n: 128
// out: 32
__global__ void Locked(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned locks[8];
  __shared__ volatile unsigned sums[8];
  const int t = threadIdx.x;
  if (t < 8) {
    locks[t] = 0;
    sums[t] = 0;
  }
  __syncthreads();
  const unsigned bin = in[t] % 8;
  bool done = false;
  while (!done) {
    if (atomicCAS(&locks[bin], 0u, 1u) == 0) {
      __threadfence_block();
      sums[bin] = sums[bin] + in[t];
      __threadfence_block();
      atomicExch(&locks[bin], 0u);
      done = true;
    }
  }
  __syncthreads();
  if (t < 8) {
    out[t] = sums[t];
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Locked<<<1, 128>>>(in, out, n);
}
