// Threads store equal values to the words of a table: lanes of one store, in order and not, warps,
// and flags of which each thread sets the one that it needs.
// n: 256
// out: 1024
__global__ void Equal(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned rows[32];
  __shared__ unsigned short narrow[64];
  __shared__ unsigned flag[2];
  const int t = threadIdx.x;
  for (int step = 0; step < 3; ++step) {
    rows[31 - t / 8 % 4 - step] = t / 8 % 4 + step;
    narrow[t % 8 * 2] = static_cast<unsigned short>(t % 8 + step);
    if (t < 2) {
      flag[t] = 0;
    }
    __syncthreads();
    if (in[t] % 3 == 0) {
      flag[in[t] % 2] = 1;
    }
    __syncthreads();
    out[t] = rows[31 - t % 4 - step] + narrow[t % 8 * 2] + flag[t % 2];
    __syncthreads();
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Equal<<<1, 256>>>(in, out, n);
}
