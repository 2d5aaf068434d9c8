// Both branches have a barrier, but not the same one.
// n: 32
// emulator: divergent barrier
// sanitizer: synccheck
__global__ void Branches(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned tile[32];
  const int t = threadIdx.x;
  tile[t] = in[t];
  if (in[t] % 2 == 0) {
    __syncthreads();  // here
    out[t] = tile[31 - t];
  } else {
    __syncthreads();  // here
    out[t] = tile[t] + 1;
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Branches<<<1, 32>>>(in, out, n);
}
