// A field of a new node that nobody set.
// n: 32
// emulator: uninitialised
// sanitizer: initcheck
struct Node {
  unsigned value;
  unsigned next;
};

__global__ void Nodes(const unsigned* in, unsigned* out, int n) {
  volatile Node* node = static_cast<Node*>(malloc(sizeof(Node)));
  node->value = in[threadIdx.x];
  out[threadIdx.x] = node->value + node->next;  // here
  free(const_cast<Node*>(node));
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Nodes<<<1, 32>>>(in, out, n);
}
