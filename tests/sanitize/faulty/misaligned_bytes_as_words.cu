// Words at byte offsets.
// n: 64
// emulator: misaligned
// sanitizer: memcheck
__global__ void Words(const char* in, int* out, int n) {
  const int t = threadIdx.x;
  out[t] = *reinterpret_cast<const int*>(in + 3 * t);  // here
}

extern "C" void launch(const char* in, int* out, int n) {
  Words<<<1, 64>>>(in, out, n);
}
