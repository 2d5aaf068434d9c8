// A store through a null pointer by one thread.
// n: 64
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Publish(const float* in, float* out, float* statistics, int n) {
  const int i = threadIdx.x;
  out[i] = in[i];
  if (i == n - 1) {
    *statistics = in[i];  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Publish<<<1, 64>>>(in, out, nullptr, n);
}
