// A counter of atomics is read without one, and nothing orders the read.
// n: 256
// emulator: race
// sanitizer: none
__device__ unsigned arrived;

__global__ void Count(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1u);  // here
  }
  out[i] = in[i] + arrived;  // here
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Count<<<8, 32>>>(in, out, n);
}
