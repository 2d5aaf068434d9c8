// The old warp-synchronous reduction with volatile memory and a synchronisation in each step.
// n: 64
// out: 4
__global__ void Sum(const unsigned* in, unsigned* out, int n) {
  __shared__ volatile unsigned part[64];
  const int t = threadIdx.x;
  part[t] = in[t];
  __syncthreads();
  if (t < 32) {
    for (int d = 32; d > 0; d /= 2) {
      const unsigned v = part[t] + part[t + d];
      __syncwarp();
      part[t] = v;
      __syncwarp();
    }
  }
  if (t == 0) {
    out[0] = part[0];
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Sum<<<1, 64>>>(in, out, n);
}
