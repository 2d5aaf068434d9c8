// Equal values by all warps, but a warp may still read what was there before.
// n: 128
// out: 512
// emulator: race
// sanitizer: racecheck
__global__ void Early(const float* in, float* out, int n) {
  __shared__ float scale;
  const int t = threadIdx.x;
  scale = in[0];  // here
  __syncthreads();
  const float first = scale;  // here
  scale = in[1];  // here
  out[t] = first * scale;  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Early<<<1, 128>>>(in, out, n);
}
