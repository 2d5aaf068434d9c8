// Quads are written and single elements read without a barrier.
// n: 512
// emulator: race
// also: uninitialised
// sanitizer: racecheck
__global__ void Spread(const float4* in, float* out, int n) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];  // here
  const float* floats = reinterpret_cast<const float*>(tile);
  for (int k = 0; k < 4; ++k) {
    out[k * 128 + t] = floats[k * 128 + t];  // here
  }
}

extern "C" void launch(const float4* in, float* out, int n) {
  Spread<<<1, 128>>>(in, out, n);
}
