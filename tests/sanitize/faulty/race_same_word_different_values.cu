// Threads of several warps write different values to one element.
// n: 128
// emulator: race
// sanitizer: racecheck
__global__ void Last(const float* in, float* out, int n) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t % 32] = in[t];  // here
  __syncthreads();
  out[t] = tile[t % 32];
}

extern "C" void launch(const float* in, float* out, int n) {
  Last<<<1, 128>>>(in, out, n);
}
