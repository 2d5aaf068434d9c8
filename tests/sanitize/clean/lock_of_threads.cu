// All threads of a warp take a lock one after the other.
// n: 64
// out: 4
__device__ unsigned lock;

__global__ void Sum(const unsigned* in, unsigned* out, int n) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0u, 1u) == 0) {
      __threadfence();
      volatile unsigned* sum = out;
      *sum = *sum + in[blockIdx.x * 32 + threadIdx.x];
      __threadfence();
      atomicExch(&lock, 0u);
      done = true;
    }
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, 4);
  Sum<<<2, 32>>>(in, out, n);
}
