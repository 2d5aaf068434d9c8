// A shared histogram with one bin too few.
// n: 512
// out: 64
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Histogram(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16) {
    bins[threadIdx.x] = 0;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    atomicAdd(&bins[in[i] % 17], 1u);  // here
  }
  __syncthreads();
  if (threadIdx.x < 16) {
    out[threadIdx.x] = bins[threadIdx.x];
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Histogram<<<1, 128>>>(in, out, n);
}
