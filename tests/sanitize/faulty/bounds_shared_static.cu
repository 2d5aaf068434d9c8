// The right neighbour of the last thread.
// n: 128
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Right(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  out[t] = 0.5f * (tile[t] + tile[t + 1]);  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Right<<<1, 128>>>(in, out, n);
}
