// One shared array runs over into the next.
// n: 128
// emulator: out of bounds
// sanitizer: none
__global__ void Two(const float* in, float* out, int n) {
  __shared__ float first[64];
  __shared__ float second[128];
  const int t = threadIdx.x;
  second[t] = in[t];
  __syncthreads();
  if (t < 65) {
    first[t] = second[t] + second[127 - t];  // here
  }
  __syncthreads();
  out[t] = first[t % 64] + second[t];
}

extern "C" void launch(const float* in, float* out, int n) {
  Two<<<1, 128>>>(in, out, n);
}
