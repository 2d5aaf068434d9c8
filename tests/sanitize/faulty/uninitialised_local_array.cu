// Half of a thread's array is filled.
// n: 64
// emulator: uninitialised
// sanitizer: none
__global__ void Pick(const unsigned* in, unsigned* out, int n) {
  unsigned own[16];
  for (unsigned k = 0; k < in[1] % 2 + 7; ++k) {
    own[k] = in[k];
  }
  out[threadIdx.x] = own[in[threadIdx.x] % 16];  // here
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Pick<<<1, 64>>>(in, out, n);
}
