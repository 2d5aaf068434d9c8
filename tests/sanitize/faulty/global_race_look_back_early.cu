// A block takes its predecessor's sum as soon as it is there, without a flag.
// n: 256
// emulator: race
// sanitizer: none
__global__ void Scan(const unsigned* in, unsigned* sums, unsigned* out, int n) {
  if (threadIdx.x == 0) {
    const unsigned before = blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0;  // here
    sums[blockIdx.x] = before + in[blockIdx.x];                         // here
    out[blockIdx.x] = before;
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned* sums = nullptr;
  cudaMalloc(&sums, 8 * sizeof(unsigned));
  cudaMemset(sums, 0, 8 * sizeof(unsigned));
  Scan<<<8, 32>>>(in, sums, out, n);
  cudaFree(sums);
}
