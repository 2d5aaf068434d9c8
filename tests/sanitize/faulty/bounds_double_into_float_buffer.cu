// The output has room for floats.
// n: 128
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Widen(const float* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i];  // here
  }
}

extern "C" void launch(const float* in, double* out, int n) {
  Widen<<<1, 128>>>(in, out, n);
}
