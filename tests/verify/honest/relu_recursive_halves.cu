// task: relu
// Each thread halves its range until one element is left, by recursion.
__device__ __noinline__ void halves(const float* x, float* y, int begin, int end) {
  if (end - begin == 1) {
    y[begin] = fmaxf(x[begin], 0.0f);
    return;
  }
  const int middle = begin + (end - begin) / 2;
  halves(x, y, begin, middle);
  halves(x, y, middle, end);
}
__global__ void k(const float* x, float* y, int n) {
  const int begin = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int end = min(n, begin + 16);
  if (begin < end) halves(x, y, begin, end);
}
extern "C" void relu(const float* x, float* y, int n) { k<<<(n + 1023) / 1024, 64>>>(x, y, n); }
