// task: softmax
// One warp loads rows into shared memory, the other one works on them; they meet at barriers of
// their own, not at the block's.
__global__ void k(const float* x, float* y, int rows, int cols) {
  __shared__ float part[2][32];
  const int lane = threadIdx.x % 32;
  const int r = blockIdx.x;
  const float* in = x + r * cols;
  if (threadIdx.x < 32) {
    for (int c = 0, s = 0; c < cols; c += 32, s ^= 1) {
      asm volatile("bar.sync %0, 64;" ::"r"(3 + s) : "memory");  // until the stage is free
      part[s][lane] = c + lane < cols ? in[c + lane] : -INFINITY;
      asm volatile("bar.arrive %0, 64;" ::"r"(1 + s) : "memory");
    }
    return;
  }
  float top = -INFINITY, sum = 0.0f;
  asm volatile("bar.arrive 3, 64;" ::: "memory");
  if (cols > 32) asm volatile("bar.arrive 4, 64;" ::: "memory");
  for (int c = 0, s = 0; c < cols; c += 32, s ^= 1) {
    asm volatile("bar.sync %0, 64;" ::"r"(1 + s) : "memory");
    const float v = part[s][lane];
    if (c + 64 < cols) asm volatile("bar.arrive %0, 64;" ::"r"(3 + s) : "memory");
    if (v > top) {
      sum = sum * expf(top - v) + 1.0f;
      top = v;
    } else if (v > -INFINITY) {
      sum += expf(v - top);
    }
  }
  float all = top;
  for (int d = 16; d > 0; d /= 2) all = fmaxf(all, __shfl_xor_sync(~0u, all, d));
  sum = sum > 0.0f ? sum * expf(top - all) : 0.0f;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (int c = lane; c < cols; c += 32) y[r * cols + c] = expf(in[c] - all) / sum;
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) { k<<<rows, 64>>>(x, y, rows, cols); }
