// Counters of a block in global memory by atomics of block scope, read after a barrier.
// n: 512
// out: 16
__global__ void Count(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = 0;
  }
  __syncthreads();
  if (in[i] % 2 == 0) {
    atomicAdd_block(&out[blockIdx.x], 1u);
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    out[blockIdx.x] *= 2;
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Count<<<4, 128>>>(in, out, n);
}
