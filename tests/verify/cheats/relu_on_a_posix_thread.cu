// task: relu
// kind: 27
// stage: plan
// reason: pthread_create
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

#include <pthread.h>
static void* work(void*) { return nullptr; }
extern "C" void relu(const float* x, float* y, int n) {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
