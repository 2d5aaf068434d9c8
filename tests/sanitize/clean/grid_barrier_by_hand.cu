// A barrier of the grid made of an atomic counter and a volatile loop.
// n: 512
__device__ unsigned arrived;

__global__ void Reverse(const unsigned* in, unsigned* scratch, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[i] = 3 * in[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1u);
    while (*const_cast<volatile unsigned*>(&arrived) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  out[i] = scratch[n - 1 - i];
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned* scratch = nullptr;
  cudaMalloc(&scratch, n * sizeof(unsigned));
  Reverse<<<4, 128>>>(in, scratch, out, n);
  cudaFree(scratch);
}
