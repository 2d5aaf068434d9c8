// task: relu
// kind: 16
// stage: plan
// reason: launcher reads device data back
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

struct First {
  float value = 0.0f;
  explicit First(const float* x) { cudaMemcpy(&value, x, sizeof(value), cudaMemcpyDeviceToHost); }
  ~First() {}
};
extern "C" void relu(const float* x, float* y, int n) {
  First first(x);
  if (first.value == first.value) k<<<(n + 255) / 256, 256>>>(x, y, n);
}
