// 16-byte stores at 8-byte steps.
// n: 260
// emulator: misaligned
// sanitizer: memcheck
__global__ void Store(const float* in, float2* out, int n) {
  const int t = threadIdx.x;
  *reinterpret_cast<float4*>(out + t) = make_float4(in[t], 1, 2, 3);  // here
}

extern "C" void launch(const float* in, float2* out, int n) {
  Store<<<1, 64>>>(in, out, n);
}
