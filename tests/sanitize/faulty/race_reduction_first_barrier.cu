// The barrier between loading and reducing is missing.
// n: 256
// out: 8
// emulator: race
// also: uninitialised
// sanitizer: racecheck
__global__ void Sum(const double* in, double* out, int n) {
  extern __shared__ double part[];
  const int t = threadIdx.x;
  part[t] = in[t];  // here
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) {
      part[t] += part[t + d];  // here
    }
    __syncthreads();
  }
  if (t == 0) {
    out[0] = part[0];
  }
}

extern "C" void launch(const double* in, double* out, int n) {
  Sum<<<1, 128, 128 * sizeof(double)>>>(in, out, n);
}
