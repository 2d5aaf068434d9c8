// task: relu
// kind: 30
// stage: parse
// reason: the code depends on __CUDACC_RTC__
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef __CUDACC_RTC__
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
#endif
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
