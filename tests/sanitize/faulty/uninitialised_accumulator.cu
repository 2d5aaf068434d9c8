// The output is added to, and nobody zeroed it.
// n: 256
// emulator: uninitialised
// sanitizer: initcheck
__global__ void Add(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] += in[i];  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Add<<<2, 128>>>(in, out, n);
}
