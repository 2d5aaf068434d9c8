// task: relu
// kind: 26
// stage: plan
// reason: nothing orders this work
// The event that is waited for was never recorded.
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
  cudaEvent_t e, f;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  half1<<<(n + 255) / 256, 256, 0, a>>>(x, t, n);
  cudaEventCreate(&e);
  cudaEventRecord(e, a);
  cudaEventDestroy(e);
  cudaEventCreate(&f);
  cudaStreamWaitEvent(b, f, 0);
  k<<<(n + 255) / 256, 256, 0, b>>>(t, y, n);
  cudaStreamSynchronize(b);
  cudaStreamSynchronize(a);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaEventDestroy(f);
  cudaFree(t);
}
