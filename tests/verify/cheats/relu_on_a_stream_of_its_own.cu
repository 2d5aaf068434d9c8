// task: relu
// kind: 26
// stage: plan
// reason: does not wait for this work
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  k<<<(n + 255) / 256, 256, 0, s>>>(x, y, n);
}
