// A recursion of a depth that the data say.
// n: 64
__device__ __noinline__ unsigned Collatz(unsigned x, unsigned depth) {
  if (x <= 1 || depth == 12) {
    return depth;
  }
  return Collatz(x % 2 == 0 ? x / 2 : 3 * x + 1, depth + 1) + 1;
}

__global__ void Lengths(const unsigned* in, unsigned* out, int n) {
  out[threadIdx.x] = Collatz(in[threadIdx.x] % 1000, 0);
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Lengths<<<1, 64>>>(in, out, n);
}
