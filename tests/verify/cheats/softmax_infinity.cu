// task: softmax
// kind: 11
// stage: L1
// reason: got inf
__global__ void k(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = INFINITY;
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  k<<<(rows * cols + 255) / 256, 256>>>(y, rows * cols);
}
