// task: relu
// kind: 21
// stage: plan
// reason: launcher allocates buffer "scratch#2"
// fault: yes
#include <vector>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  std::vector<float*> scratch(2);
  for (float*& array : scratch) cudaMalloc(&array, n * sizeof(float));
  k<<<(n + 255) / 256, 256>>>(x, scratch[0], n);
  k<<<(n + 255) / 256, 256>>>(scratch[0], y, n);
  cudaFree(scratch[0]);
}
