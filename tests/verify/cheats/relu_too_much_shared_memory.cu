// task: relu
// kind: 22
// stage: L0
// reason: shared memory
__global__ void k(const float* x, float* y, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    s[threadIdx.x] = fmaxf(x[i], 0.0f);
    y[i] = s[threadIdx.x];
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256, 300000>>>(x, y, n);
}
