// n: 2048
// malloc and free of the device: lists whose lengths are data.
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
  out[i] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) { Lists<<<n / 128, 128>>>(in, out); }
