// A barrier under a condition that splits a warp.
// n: 64
// emulator: divergent barrier
// sanitizer: synccheck
__global__ void Half(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = in[t];
  if (t < 48) {
    __syncthreads();  // here
    out[t] = tile[47 - t];
  } else {
    out[t] = in[t];
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Half<<<1, 64>>>(in, out, n);
}
