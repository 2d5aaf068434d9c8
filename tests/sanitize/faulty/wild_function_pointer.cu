// A call through an entry of a table that nobody filled.
// n: 32
// emulator: invalid call
// sanitizer: memcheck
using Function = unsigned (*)(unsigned);

__device__ __noinline__ unsigned Twice(unsigned x) {
  return 2 * x;
}
__device__ __noinline__ unsigned Half(unsigned x) {
  return x / 2;
}
__device__ Function table[4] = {Twice, Half, nullptr, nullptr};

__global__ void Apply(const unsigned* in, unsigned* out, int n) {
  out[threadIdx.x] = table[in[threadIdx.x] % 4](in[threadIdx.x]);  // here
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Apply<<<1, 32>>>(in, out, n);
}
