// A pointer into the middle of a node is freed.
// n: 32
// emulator: invalid free
// sanitizer: memcheck
__global__ void Nodes(const unsigned* in, unsigned* out, int n) {
  unsigned* node = static_cast<unsigned*>(malloc(64));
  for (int k = 0; k < 16; ++k) {
    node[k] = in[k];
  }
  out[threadIdx.x] = node[in[0] % 16];
  free(node + 4);  // here
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Nodes<<<1, 32>>>(in, out, n);
}
