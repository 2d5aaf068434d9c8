// task: layernorm
// kind: 11
// stage: L1
// reason: is unwritten
// All bits set: what unwritten memory holds.
__global__ void k(unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0xffffffffu;
}
extern "C" void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float eps) {
  k<<<(rows * cols + 255) / 256, 256>>>((unsigned*)y, rows * cols);
}
