// Lists on the device heap, each node initialised before it is read.
// n: 64
__global__ void Lists(const unsigned* in, unsigned* out, int n) {
  struct Node {
    Node* next;
    unsigned value;
  };
  Node* head = nullptr;
  for (unsigned k = 0; k < in[threadIdx.x] % 6; ++k) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->next = head;
    node->value = in[k];
    head = node;
  }
  unsigned sum = 0;
  while (head != nullptr) {
    Node* next = head->next;
    sum += head->value;
    free(head);
    head = next;
  }
  out[threadIdx.x] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Lists<<<1, 64>>>(in, out, n);
}
