// task: relu
// kind: 21
// stage: plan
// reason: leave buffer "y"
// fault: yes
#include <vector>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  std::vector<int> sizes = {n, 1};
  cudaMemsetAsync(y, 0, (sizes[0] + sizes[1]) * sizeof(float));
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
