// An array in device memory, one element past its end.
// n: 64
// emulator: out of bounds
// sanitizer: memcheck
__device__ unsigned counts[32];

__global__ void Count(const unsigned* in, unsigned* out, int n) {
  const int i = threadIdx.x;
  atomicAdd(&counts[in[i] % 32 + i / 48], 1u);  // here
  out[i] = n;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Count<<<1, 64>>>(in, out, n);
}
