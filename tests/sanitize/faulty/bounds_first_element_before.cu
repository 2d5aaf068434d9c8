// The left neighbour of the first element.
// n: 512
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Difference(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i] - in[i - 1];  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Difference<<<4, 128>>>(in, out, n);
}
