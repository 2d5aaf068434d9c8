// The last block sums what the others stored, and no fence orders their stores before the ticket.
// n: 512
// emulator: race
// sanitizer: none
__device__ unsigned ticket;

__global__ void Sum(const unsigned* in, unsigned* parts, unsigned* out, int n) {
  if (threadIdx.x != 0) {
    return;
  }
  unsigned sum = 0;
  for (int i = 0; i < 64; ++i) {
    sum += in[blockIdx.x * 64 + i];
  }
  parts[blockIdx.x] = sum;  // here
  if (atomicAdd(&ticket, 1u) == gridDim.x - 1) {
    sum = 0;
    for (int b = 0; b < gridDim.x; ++b) {
      sum += parts[b];  // here
    }
    out[0] = sum;
    ticket = 0;
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned* parts = nullptr;
  cudaMalloc(&parts, 8 * sizeof(unsigned));
  cudaMemset(parts, 0, 8 * sizeof(unsigned));
  Sum<<<8, 32>>>(in, parts, out, n);
  cudaFree(parts);
}
