// task: relu
// The launcher picks its kernel from a table and launches it by the runtime's function.
__global__ void whole(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
__global__ void pairs(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  float2 v = reinterpret_cast<const float2*>(x)[i];
  reinterpret_cast<float2*>(y)[i] = make_float2(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f));
}
using Kernel = void (*)(const float*, float*, int);
extern "C" void relu(const float* x, float* y, int n) {
  Kernel kernels[2] = {pairs, whole};
  Kernel chosen = kernels[n % 2];
  void* arguments[] = {&x, &y, &n};
  cudaLaunchKernel(reinterpret_cast<const void*>(chosen), dim3((n + 255) / 256), dim3(256), arguments, 0, nullptr);
}
