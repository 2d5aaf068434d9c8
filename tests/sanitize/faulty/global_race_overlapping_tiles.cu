// Tiles of neighbouring blocks overlap by one column and are stored whole.
// n: 512
// emulator: race
// sanitizer: none
__global__ void Tiles(const float* in, float* out, int n) {
  const int i = blockIdx.x * 127 + threadIdx.x;
  if (i < n) {
    out[i] = in[i] * (blockIdx.x + 1);  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Tiles<<<4, 128>>>(in, out, n);
}
