// Vector loads that begin at the second element.
// n: 513
// emulator: misaligned
// sanitizer: memcheck
__global__ void Copy(const float* in, float4* out, int n) {
  const int i = threadIdx.x;
  out[i] = reinterpret_cast<const float4*>(in + 1)[i];  // here
}

extern "C" void launch(const float* in, float4* out, int n) {
  Copy<<<1, 128>>>(in, out, n);
}
