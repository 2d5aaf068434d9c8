// An assertion about the data that does not hold.
// n: 32
// emulator: assert
// sanitizer: memcheck
#include <cassert>

__global__ void Check(const unsigned* in, unsigned* out, int n) {
  assert(in[threadIdx.x] % 3 != 0);  // here
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Check<<<1, 32>>>(in, out, n);
}
