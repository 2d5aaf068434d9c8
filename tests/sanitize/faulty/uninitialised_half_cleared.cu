// The memset covers half of the scratch memory.
// n: 256
// emulator: uninitialised
// sanitizer: initcheck
__global__ void Read(const unsigned* in, const unsigned* scratch, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + scratch[i];  // here
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned* scratch = nullptr;
  cudaMalloc(&scratch, n * sizeof(unsigned));
  cudaMemset(scratch, 0, n * sizeof(unsigned) / 2);
  Read<<<2, 128>>>(in, scratch, out, n);
  cudaFree(scratch);
}
