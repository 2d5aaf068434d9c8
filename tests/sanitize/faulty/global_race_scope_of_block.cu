// A lock between blocks by atomics and fences that hold in one block only.
// n: 256
// out: 4
// emulator: race
// sanitizer: none
__device__ unsigned lock;

__global__ void Sum(const unsigned* in, unsigned* out, int n) {
  if (threadIdx.x == 0) {
    while (atomicCAS_block(&lock, 0u, 1u) != 0) {  // here
    }
    __threadfence_block();
    out[0] = out[0] + in[blockIdx.x];  // here
    __threadfence_block();
    atomicExch_block(&lock, 0u);  // here
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, 4);
  Sum<<<8, 32>>>(in, out, n);
}
