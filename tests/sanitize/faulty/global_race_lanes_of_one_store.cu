// Lanes of one warp write different values to one element of the output.
// n: 64
// emulator: race
// sanitizer: none
__global__ void Pairs(const float* in, float* out, int n) {
  const int t = threadIdx.x;
  out[t / 2] = in[t];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Pairs<<<1, 64>>>(in, out, n);
}
