// The halo is loaded by a thread of another warp.
// n: 130
// emulator: race
// also: uninitialised
// sanitizer: racecheck
__global__ void Blur(const float* in, float* out, int n) {
  __shared__ float tile[130];
  const int t = threadIdx.x;
  tile[t + 1] = in[t + 1];  // here
  if (t == 0) {
    tile[0] = in[0];      // here
    tile[129] = in[129];  // here
  }
  out[t] = tile[t] + tile[t + 1] + tile[t + 2];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Blur<<<1, 128>>>(in, out, n);
}
