// task: relu
// kind: 37
// stage: plan
// fault: yes
// reason: launcher allocates 64 bytes of pinned host memory here, and ends without freeing them
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  float* staging = nullptr;
  cudaMallocHost(&staging, 64);
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
