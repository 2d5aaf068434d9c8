// A reduction whose loop has no barrier.
// n: 256
// out: 4
// emulator: race
// sanitizer: racecheck
__global__ void Sum(const float* in, float* out, int n) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  part[t] = in[t];
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) {
      part[t] += part[t + d];  // here
    }
  }
  if (t == 0) {
    out[0] = part[0];
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Sum<<<1, 256>>>(in, out, n);
}
