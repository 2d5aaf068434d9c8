// task: relu
// kind: 21
// stage: plan
// reason: cudaFree: buffer "scratch"
// fault: yes
// A copy of the object frees the same memory.
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
struct Array {
  float* data = nullptr;
  explicit Array(int n) { cudaMalloc(&data, n * sizeof(float)); }
  ~Array() { cudaFree(data); }
};
static void Fill(Array to, const float* x, int n) {
  cudaMemcpyAsync(to.data, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
extern "C" void relu(const float* x, float* y, int n) {
  Array scratch(n);
  k<<<(n + 255) / 256, 256>>>(x, y, n);
  Fill(scratch, x, n);
}
