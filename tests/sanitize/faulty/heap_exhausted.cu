// malloc gives nothing, and nobody looks.
// n: 32
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Big(const unsigned* in, unsigned* out, int n) {
  unsigned* table = static_cast<unsigned*>(malloc(size_t{1} << 36));
  table[in[threadIdx.x] % 1000] = 1;  // here
  out[threadIdx.x] = table[0];
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Big<<<1, 32>>>(in, out, n);
}
