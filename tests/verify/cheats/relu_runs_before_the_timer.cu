// task: relu
// kind: 32
// stage: plan
// reason: runs when the program starts
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__attribute__((constructor)) static void prepare() {}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
