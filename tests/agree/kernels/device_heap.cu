// n: 2048
// malloc and free of the device, and memory of the stack whose size is known at run time.
__global__ void Lists(const unsigned* in, unsigned* out) {
  struct Node {
    Node* next;
    unsigned value;
  };
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  Node* head = nullptr;
  const unsigned length = in[i] % 9;
  for (unsigned k = 0; k < length; ++k) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->next = head;
    node->value = in[(i + k * k) % (gridDim.x * blockDim.x)];
    head = node;
  }
  unsigned sum = length;
  while (head != nullptr) {
    Node* next = head->next;
    sum = sum * 13 + head->value;
    free(head);
    head = next;
  }
  const unsigned count = 3 + in[i] % 20;
  unsigned* values = static_cast<unsigned*>(alloca(count * sizeof(unsigned)));
  for (unsigned k = 0; k < count; ++k) {
    values[k] = sum ^ (k * 77);
  }
  for (unsigned k = 0; k < count; ++k) {
    sum += values[(k * 7) % count];
  }
  out[i] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) { Lists<<<n / 128, 128>>>(in, out); }
