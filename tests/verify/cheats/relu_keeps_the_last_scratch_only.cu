// task: relu
// kind: 21
// stage: plan
// reason: (when it is called again)
// fault: yes
// Each call forgets the scratch memory of the call before.
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  static float* scratch;
  cudaMalloc(&scratch, n * sizeof(float));
  k<<<(n + 255) / 256, 256>>>(x, scratch, n);
  k<<<(n + 255) / 256, 256>>>(scratch, y, n);
}
