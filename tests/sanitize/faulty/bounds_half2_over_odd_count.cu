// Pairs of halves over an odd number of them.
// n: 255
// in: 510
// out: 510
// emulator: out of bounds
// sanitizer: memcheck
#include <cuda_fp16.h>

__global__ void Twice(const __half* in, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i < n) {
    const __half2 pair = reinterpret_cast<const __half2*>(in)[i];  // here
    reinterpret_cast<__half2*>(out)[i] = __hadd2(pair, pair);
  }
}

extern "C" void launch(const __half* in, __half* out, int n) {
  Twice<<<1, 128>>>(in, out, n);
}
