// One pointer for shared or global memory.
// n: 128
__global__ void Either(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  float* target = t % 2 == 0 ? tile : out;
  target[t] = in[t];
  __syncthreads();
  if (t % 2 == 0) {
    out[t] = tile[t] + out[t ^ 1];
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Either<<<1, 128>>>(in, out, n);
}
