// A counter in new memory, never zeroed.
// n: 256
// emulator: uninitialised
// sanitizer: initcheck
__global__ void Compact(const unsigned* in, unsigned* out, unsigned* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] % 4 == 0) {
    out[atomicAdd(count, 1u) % 256] = in[i];  // here
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned* count = nullptr;
  cudaMalloc(&count, sizeof(unsigned));
  Compact<<<2, 128>>>(in, out, count, n);
  cudaFree(count);
}
