// A shared histogram by plain increments.
// n: 1024
// out: 64
// emulator: race
// sanitizer: racecheck
__global__ void Histogram(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned bins[16];
  const int t = threadIdx.x;
  if (t < 16) {
    bins[t] = 0;
  }
  __syncthreads();
  for (int i = t; i < n; i += 128) {
    bins[in[i] % 16] += 1;  // here
  }
  __syncthreads();
  if (t < 16) {
    out[t] = bins[t];
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Histogram<<<1, 128>>>(in, out, n);
}
