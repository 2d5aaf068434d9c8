// Pairs in rows of odd length.
// n: 1056
// emulator: misaligned
// sanitizer: memcheck
__global__ void Pairs(const float* in, float* out, int columns) {
  const int x = 2 * threadIdx.x;
  const float2 pair = *reinterpret_cast<const float2*>(&in[blockIdx.x * columns + x]);  // here
  out[blockIdx.x * columns + x] = pair.x;
  out[blockIdx.x * columns + x + 1] = pair.y;
}

extern "C" void launch(const float* in, float* out, int n) {
  Pairs<<<32, 16>>>(in, out, 33);
}
