// Reads the output before anybody wrote it.
// n: 128
// emulator: uninitialised
// sanitizer: initcheck
__global__ void Maximum(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  if (in[i] > out[i]) {  // here
    out[i] = in[i];
  }
}

extern "C" void launch(const int* in, int* out, int n) {
  Maximum<<<1, 128>>>(in, out, n);
}
