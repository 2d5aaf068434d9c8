// task: relu
// kind: 31
// stage: plan
// reason: a limit of the device
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 32 << 20);
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
