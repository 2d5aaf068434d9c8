// The last bin is one past the table.
// n: 256
// out: 256
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Histogram(const unsigned* in, unsigned* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&bins[in[i] % 80], 1u);  // here
  }
}

extern "C" void launch(const unsigned* in, unsigned* bins, int n) {
  cudaMemset(bins, 0, 256);
  Histogram<<<2, 128>>>(in, bins, n);
}
