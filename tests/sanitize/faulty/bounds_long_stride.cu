// A grid-stride loop over 64-bit elements that counts in 32-bit ones.
// n: 1000
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Copy(const long long* in, long long* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = in[i];  // here
  }
}

extern "C" void launch(const long long* in, long long* out, int n) {
  Copy<<<2, 64>>>(in, out, n);
}
