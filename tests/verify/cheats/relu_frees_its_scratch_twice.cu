// task: relu
// kind: 21
// stage: plan
// reason: (64 bytes) was freed in line 13
// fault: yes
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  float* scratch;
  cudaMalloc(&scratch, 64);
  cudaFree(scratch);
  cudaFree(scratch);
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
