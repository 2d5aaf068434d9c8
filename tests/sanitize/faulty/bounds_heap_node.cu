// A node of the device heap is shorter than what is written.
// n: 32
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Nodes(const unsigned* in, unsigned* out, int n) {
  unsigned* node = static_cast<unsigned*>(malloc(16));
  for (unsigned k = 0; k < 4 + in[0] % 2 + 1; ++k) {
    node[k] = in[k];  // here
  }
  out[threadIdx.x] = node[threadIdx.x % 4];
  free(node);
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Nodes<<<1, 32>>>(in, out, n);
}
