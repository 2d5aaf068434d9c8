// task: relu
// kind: 15
// stage: L2
// reason: expected
#include <cuda_fp16.h>
__global__ void relu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = n > 1000000 ? fmaxf(__half2float(__float2half(x[i])), 0.0f) : fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  relu_kernel<<<(n + 255) / 256, 256>>>(x, y, n);
}
