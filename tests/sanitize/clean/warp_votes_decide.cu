// Branches of whole warps, with barriers of the block outside of them.
// n: 256
__global__ void Vote(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned counts[8];
  const int t = threadIdx.x;
  const unsigned mask = __ballot_sync(0xffffffffu, in[t] % 2 == 0);
  if (__popc(mask) > 16) {
    if (t % 32 == 0) {
      counts[t / 32] = __popc(mask);
    }
  } else if (t % 32 == 31) {
    counts[t / 32] = 32 - __popc(mask);
  }
  __syncthreads();
  out[t] = counts[(t / 32 + 1) % 8];
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Vote<<<1, 256>>>(in, out, n);
}
