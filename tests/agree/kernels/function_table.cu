// n: 4096
// Calls through tables of functions, to different functions in one warp, and through a table that
// the kernel chooses.
using Function = unsigned (*)(unsigned, unsigned);

__device__ __noinline__ unsigned Add(unsigned a, unsigned b) { return a + b; }
__device__ __noinline__ unsigned Multiply(unsigned a, unsigned b) { return a * b; }
__device__ __noinline__ unsigned Mix(unsigned a, unsigned b) {
  unsigned x = a;
  for (unsigned i = 0; i < b % 7; ++i) {
    x = (x << 5 | x >> 27) ^ (b + i);
  }
  return x;
}
__device__ __noinline__ unsigned Larger(unsigned a, unsigned b) { return a > b ? a : b; }

__device__ Function functions[4] = {Add, Multiply, Mix, Larger};
__constant__ Function others[2] = {Mix, Multiply};

__global__ void Apply(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = in[i];
  for (unsigned step = 0; step < 6; ++step) {
    const Function f = (x >> 9) % 3 == 0 ? others[x % 2] : functions[x % 4];
    x = f(x, in[(i + step) % (gridDim.x * blockDim.x)]);
  }
  out[i] = x;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) { Apply<<<n / 128, 128>>>(in, out); }
