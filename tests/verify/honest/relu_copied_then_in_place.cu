// task: relu
// A copy on the stream, then a kernel that works on the output alone.
__global__ void k(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (signbit(y[i])) y[i] = 0.0f;
}
extern "C" void relu(const float* x, float* y, int n) {
  cudaMemcpyAsync(y, x, sizeof(float) * n, cudaMemcpyDeviceToDevice, 0);
  k<<<(n + 255) / 256, 256, 0, 0>>>(y, n);
}
