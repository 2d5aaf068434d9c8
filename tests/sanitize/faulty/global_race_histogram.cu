// A histogram in global memory by plain increments.
// n: 1024
// out: 64
// emulator: race
// sanitizer: none
__global__ void Histogram(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[in[i] % 16] += 1;  // here
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, 64);
  Histogram<<<8, 128>>>(in, out, n);
}
