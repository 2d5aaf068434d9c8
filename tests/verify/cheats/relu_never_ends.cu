// task: relu
// kind: 37
// stage: L0
// reason: not finished
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float* out = y;
  for (;;) out[0] = i;
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
