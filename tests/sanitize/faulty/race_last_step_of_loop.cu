// The tile of the next step overwrites what slower warps still read.
// n: 1024
// out: 512
// emulator: race
// sanitizer: racecheck
__global__ void Chunks(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; k += 128) {
    tile[t] = in[k + t];  // here
    __syncthreads();
    sum += tile[127 - t];  // here
  }
  out[t] = sum;
}

extern "C" void launch(const float* in, float* out, int n) {
  Chunks<<<1, 128>>>(in, out, n);
}
