// The mirror image begins one too far right.
// n: 300
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Reverse(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[n - i];  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Reverse<<<3, 128>>>(in, out, n);
}
