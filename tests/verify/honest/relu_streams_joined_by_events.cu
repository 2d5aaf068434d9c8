// task: relu
// Two halves on two streams, which fork from the caller's stream and join it again.
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  cudaStream_t side;
  cudaEvent_t fork, join;
  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  cudaEventRecord(fork, 0);
  cudaStreamWaitEvent(side, fork, 0);
  const int half = n / 2;
  if (half > 0) k<<<(half + 255) / 256, 256, 0, side>>>(x, y, half);
  k<<<(n - half + 255) / 256, 256>>>(x + half, y + half, n - half);
  cudaEventRecord(join, side);
  cudaStreamWaitEvent(0, join, 0);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaStreamDestroy(side);
}
