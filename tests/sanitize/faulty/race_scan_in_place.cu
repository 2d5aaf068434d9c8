// A scan in place without a barrier between reading and writing.
// n: 128
// emulator: race
// sanitizer: racecheck
__global__ void Scan(const int* in, int* out, int n) {
  __shared__ int tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    const int left = t >= d ? tile[t - d] : 0;  // here
    tile[t] += left;                            // here
    __syncthreads();
  }
  out[t] = tile[t];
}

extern "C" void launch(const int* in, int* out, int n) {
  Scan<<<1, 128>>>(in, out, n);
}
