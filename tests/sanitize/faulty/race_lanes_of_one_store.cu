// Two lanes of one warp write different values to one element.
// n: 64
// emulator: race
// sanitizer: racecheck
__global__ void Pairs(const float* in, float* out, int n) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  tile[t / 2] = in[t];  // here
  __syncthreads();
  out[t] = tile[t / 2];
}

extern "C" void launch(const float* in, float* out, int n) {
  Pairs<<<1, 64>>>(in, out, n);
}
