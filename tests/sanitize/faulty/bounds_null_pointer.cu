// The second buffer is not there.
// n: 64
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Add(const float* in, const float* bias, float* out, int n) {
  const int i = threadIdx.x;
  out[i] = in[i] + bias[i];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Add<<<1, 64>>>(in, nullptr, out, n);
}
