// The last steps of a reduction rely on lanes in step.
// n: 64
// out: 4
// emulator: race
// sanitizer: racecheck
__global__ void Sum(const float* in, float* out, int n) {
  __shared__ float part[64];
  const int t = threadIdx.x;
  part[t] = in[t];
  __syncthreads();
  if (t < 32) {
    part[t] += part[t + 32];  // here
    part[t] += part[t + 16];  // here
    part[t] += part[t + 8];   // here
    part[t] += part[t + 4];   // here
    part[t] += part[t + 2];   // here
    part[t] += part[t + 1];   // here
  }
  if (t == 0) {
    out[0] = part[0];  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Sum<<<1, 64>>>(in, out, n);
}
