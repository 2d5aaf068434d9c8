// The right neighbour of the last element.
// n: 640
// emulator: out of bounds
// sanitizer: initcheck
__global__ void Blur(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n) {
    out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3.0f;  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Blur<<<5, 128>>>(in, out, n);
}
