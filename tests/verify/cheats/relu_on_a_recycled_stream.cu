// task: relu
// kind: 26
// stage: plan
// reason: nothing orders this work
// Two streams, of which the second may get the handle of the first.
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
__global__ void half1(const float* x, float* t, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) t[i] = x[i]; }
struct Work { ~Work() {} int v = 0; };
extern "C" void relu(const float* x, float* y, int n) {
  Work work;
  float* t;
  cudaMalloc(&t, 4 * n);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  half1<<<(n + 255) / 256, 256, 0, a>>>(x, t, n);
  cudaStreamDestroy(a);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  k<<<(n + 255) / 256, 256, 0, b>>>(t, y, n);
  cudaStreamSynchronize(b);
  cudaStreamDestroy(b);
  cudaFree(t);
}
