// task: relu
// kind: 22
// stage: L0
// reason: dynamic shared memory
// The launch fails; what an earlier kernel left in the output stays.
__global__ void k(const float* x, float* y, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  if (i < n) y[i] = fmaxf(s[threadIdx.x], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256, 64 * 1024>>>(x, y, n);
}
