// An index far beyond an array of the thread's own.
// n: 64
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Permute(const unsigned* in, unsigned* out, int n) {
  unsigned own[8];
  for (int k = 0; k < 8; ++k) {
    own[(in[k] + k) % 8] = in[k];
  }
  for (int k = 0; k < 8; ++k) {
    own[in[k] % 8] = k;
  }
  out[threadIdx.x] = own[in[threadIdx.x] % 8 + in[2] % 1000000];  // here
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Permute<<<1, 64>>>(in, out, n);
}
