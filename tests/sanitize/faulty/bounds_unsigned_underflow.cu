// An unsigned index below zero.
// n: 256
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Previous(const float* in, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i - 1u];  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Previous<<<2, 128>>>(in, out, n);
}
