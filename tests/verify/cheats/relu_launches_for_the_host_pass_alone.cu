// task: relu
// kind: 30
// stage: parse
// reason: the launcher depends on __CUDA_ARCH__
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
#ifdef __CUDA_ARCH__
  k<<<(n + 255) / 256, 256>>>(x, y, n);
#endif
}
