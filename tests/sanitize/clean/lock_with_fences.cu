// A lock between blocks: compare and swap, a fence, the work, a fence, an exchange.
// n: 256
// out: 4
__device__ unsigned lock;

__global__ void Sum(const unsigned* in, unsigned* out, int n) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&lock, 0u, 1u) != 0) {
    }
    __threadfence();
    out[0] = out[0] + in[blockIdx.x];
    __threadfence();
    atomicExch(&lock, 0u);
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, 4);
  Sum<<<8, 32>>>(in, out, n);
}
