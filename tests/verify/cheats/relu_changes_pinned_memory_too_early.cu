// task: relu
// kind: 26
// stage: plan
// fault: yes
// reason: launcher changes pinned memory while an upload from it may still run
__global__ void k(const float* x, float* y, int n, const float* lowest) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], lowest[0]);
}
extern "C" void relu(const float* x, float* y, int n) {
  float* host = nullptr;
  float* lowest = nullptr;
  cudaMallocHost(&host, sizeof(float));
  cudaMalloc(&lowest, sizeof(float));
  *host = 0.0f;
  cudaMemcpyAsync(lowest, host, sizeof(float), cudaMemcpyHostToDevice, 0);
  *host = 1.0f;
  k<<<(n + 255) / 256, 256>>>(x, y, n, lowest);
  cudaFree(lowest);
  cudaFreeHost(host);
}
