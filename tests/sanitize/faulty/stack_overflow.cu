// A recursion that never ends.
// n: 32
// emulator: stack overflow
// sanitizer: memcheck
__device__ __noinline__ unsigned Deep(const unsigned* in, unsigned depth) {
  if (depth == 0xffffffffu) {
    return 1;
  }
  return in[depth % 32] + 3 * Deep(in, depth + 1 + in[0] % 2 * 0);  // here
}

__global__ void Recurse(const unsigned* in, unsigned* out, int n) {
  out[threadIdx.x] = Deep(in, in[threadIdx.x] % 2);  // here
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Recurse<<<1, 32>>>(in, out, n);
}
