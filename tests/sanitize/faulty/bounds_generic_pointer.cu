// One pointer for shared or global memory; the global half is too short.
// n: 64
// out: 64
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Either(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  float* target = in[0] != in[1] && t % 2 == 0 ? tile : out;
  target[t] = in[t];  // here
  __syncthreads();
  if (t < 8) {
    out[t] = tile[2 * t];
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Either<<<1, 64>>>(in, out, n);
}
