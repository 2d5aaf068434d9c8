// task: relu
// kind: 27
// stage: plan
// reason: which cannot be traced
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

#include <future>
extern "C" void relu(const float* x, float* y, int n) {
  auto later = std::async(std::launch::async, [] { return 1; });
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
