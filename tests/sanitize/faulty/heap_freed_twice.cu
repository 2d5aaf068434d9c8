// A node is freed twice.
// n: 32
// emulator: invalid free
// sanitizer: memcheck
__global__ void Nodes(const unsigned* in, unsigned* out, int n) {
  unsigned* node = static_cast<unsigned*>(malloc(64));
  node[0] = in[threadIdx.x];
  out[threadIdx.x] = node[0];
  free(node);
  if (in[threadIdx.x] % 2 == 0) {
    free(node);  // here
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Nodes<<<1, 32>>>(in, out, n);
}
