// The input's first word serves as a counter.
// n: 64
// emulator: read-only
// sanitizer: none
__global__ void Take(const unsigned* in, unsigned* out, int n) {
  const unsigned place = atomicAdd(const_cast<unsigned*>(in), 1u);  // here
  out[(place + threadIdx.x) % 64] = threadIdx.x;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Take<<<1, 64>>>(in, out, n);
}
