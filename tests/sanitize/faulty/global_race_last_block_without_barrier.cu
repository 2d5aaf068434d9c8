// One thread takes the ticket before the others of its block have stored their parts.
// n: 512
// emulator: race
// sanitizer: none
__device__ unsigned ticket;

__global__ void Sum(const unsigned* in, unsigned* parts, unsigned* out, int n) {
  __shared__ bool last;
  const int t = threadIdx.x;
  parts[blockIdx.x * 64 + t] = in[blockIdx.x * 64 + t] * 3;  // here
  __threadfence();
  if (t == 0) {
    last = atomicAdd(&ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    for (int b = 0; b < gridDim.x; ++b) {
      out[b * 64 + t] = parts[b * 64 + t];  // here
    }
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned* parts = nullptr;
  cudaMalloc(&parts, n * sizeof(unsigned));
  cudaMemset(parts, 0, n * sizeof(unsigned));
  Sum<<<8, 64>>>(in, parts, out, n);
  cudaFree(parts);
}
