// task: relu
// kind: 7
// stage: plan
// reason: at most 1024 threads
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 2047) / 2048, 2048>>>(x, y, n);
  if (cudaGetLastError() != cudaSuccess) k<<<(n + 255) / 256, 256>>>(x, y, n);
}
