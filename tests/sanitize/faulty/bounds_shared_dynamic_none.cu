// The launch gives no dynamic shared memory at all.
// n: 64
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Reverse(const float* in, float* out, int n) {
  extern __shared__ float tile[];
  const int t = threadIdx.x;
  tile[t] = in[t];  // here
  __syncthreads();
  out[t] = tile[n - 1 - t];
}

extern "C" void launch(const float* in, float* out, int n) {
  Reverse<<<1, 64>>>(in, out, n);
}
