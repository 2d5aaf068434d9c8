// task: relu
// kind: 26
// stage: plan
// reason: changes pinned memory while an upload from it may still run
// Pinned memory is changed while its copy may still run.
__global__ void k(const float* x, float* y, int n, const int* p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = p[0] == 1 ? fmaxf(x[i], 0.0f) : 0.0f;
}
struct Work { ~Work() {} int v = 0; };
extern "C" void relu(const float* x, float* y, int n) {
  Work work;
  int* h; int* d;
  cudaMallocHost(&h, 4);
  cudaMalloc(&d, 4);
  *h = 1;
  cudaMemcpyAsync(d, h, 4, cudaMemcpyHostToDevice, 0);
  *h = 2;
  k<<<(n + 255) / 256, 256>>>(x, y, n, d);
  cudaFree(d);
  cudaFreeHost(h);
}
