// task: relu
// kind: 32
// stage: L1
// reason: got 0
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

struct Late {
  float* y;
  int n;
  ~Late() { cudaMemsetAsync(y, 0, n * sizeof(float)); }
};
extern "C" void relu(const float* x, float* y, int n) {
  Late late{y, n};
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
