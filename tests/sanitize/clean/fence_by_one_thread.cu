// One thread's fence after a barrier covers what the whole block stored.
// n: 512
__device__ unsigned ticket;

__global__ void Reverse(const unsigned* in, unsigned* parts, unsigned* out, int n) {
  __shared__ bool last;
  const int t = threadIdx.x;
  const int i = blockIdx.x * 128 + t;
  parts[i] = 7 * in[i];
  __syncthreads();
  if (t == 0) {
    __threadfence();
    last = atomicAdd(&ticket, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) {
    for (int k = t; k < n; k += 128) {
      out[k] = parts[n - 1 - k];
    }
    if (t == 0) {
      ticket = 0;
    }
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned* parts = nullptr;
  cudaMalloc(&parts, n * sizeof(unsigned));
  Reverse<<<4, 128>>>(in, parts, out, n);
  cudaFree(parts);
}
