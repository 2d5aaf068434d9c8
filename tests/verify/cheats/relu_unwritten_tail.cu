// task: relu
// kind: 1
// stage: L1
// reason: is unwritten
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  int blocks = n / 256;  // rounds down
  k<<<blocks > 0 ? blocks : 1, 256>>>(x, y, n);
}
