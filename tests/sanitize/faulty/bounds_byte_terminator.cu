// A terminator after the last byte.
// n: 300
// in: 300
// out: 300
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Copy(const char* in, char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i];
  }
  if (i == n) {
    out[i] = 0;  // here
  }
}

extern "C" void launch(const char* in, char* out, int n) {
  Copy<<<3, 128>>>(in, out, n);
}
