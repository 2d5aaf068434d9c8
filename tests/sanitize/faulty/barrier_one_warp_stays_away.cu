// Warps wait at two different named barriers for each other.
// n: 64
// emulator: deadlock
// sanitizer: hang
__global__ void Cross(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = in[t];
  if (t < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // here
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");  // here
  }
  out[t] = tile[63 - t];
}

extern "C" void launch(const float* in, float* out, int n) {
  Cross<<<1, 64>>>(in, out, n);
}
