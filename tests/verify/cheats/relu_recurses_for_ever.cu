// task: relu
// kind: 37
// stage: L0
// reason: stack overflow
__device__ int deeper(int a) {
  volatile int q[16];
  q[a % 16] = a;
  return deeper(a + 1) + q[0];
}
__global__ void k(const float* x, float* y, int n) { y[0] = deeper(n); }
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
