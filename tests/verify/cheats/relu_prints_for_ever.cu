// task: relu
// kind: 37
// stage: L0
// reason: not finished
__global__ void k(const float* x, float* y, int n) {
  for (volatile int i = 0; i >= 0; i = (i + 1) % 1000) printf("%d\n", i);
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
