// A reduction adds elements that only a full block would have filled.
// n: 200
// out: 8
// emulator: uninitialised
// sanitizer: none
__global__ void Sum(const float* in, float* out, int n) {
  __shared__ float part[128];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 128 + t;
  if (i < n) {
    part[t] = in[i];
  }
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) {
      part[t] += part[t + d];  // here
    }
    __syncthreads();
  }
  if (t == 0) {
    out[blockIdx.x] = part[0];
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Sum<<<2, 128>>>(in, out, n);
}
