// A node is read after it was freed.
// n: 32
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Nodes(const unsigned* in, unsigned* out, int n) {
  unsigned* volatile kept = static_cast<unsigned*>(malloc(64));
  unsigned* node = kept;
  for (int k = 0; k < 16; ++k) {
    node[k] = in[k];
  }
  free(node);
  out[threadIdx.x] = kept[in[threadIdx.x] % 16];  // here
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Nodes<<<1, 32>>>(in, out, n);
}
