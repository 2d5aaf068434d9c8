// Shared memory before its first byte.
// n: 128
// emulator: out of bounds
// sanitizer: none
__global__ void Left(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  out[t] = tile[t - 1];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Left<<<1, 128>>>(in, out, n);
}
