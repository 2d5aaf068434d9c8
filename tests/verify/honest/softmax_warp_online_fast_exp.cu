// task: softmax
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* row = x + r * cols;
  float m = -INFINITY;
  float sum = 0.0f;
  for (int c = lane; c < cols; c += 32) {
    float v = row[c];
    float next = fmaxf(m, v);
    sum = sum * __expf(m - next) + __expf(v - next);
    m = next;
  }
  for (int d = 16; d > 0; d /= 2) {
    float other_m = __shfl_xor_sync(0xffffffff, m, d);
    float other_sum = __shfl_xor_sync(0xffffffff, sum, d);
    float next = fmaxf(m, other_m);
    float a = m == -INFINITY ? 0.0f : sum * __expf(m - next);
    float b = other_m == -INFINITY ? 0.0f : other_sum * __expf(other_m - next);
    sum = a + b;
    m = next;
  }
  for (int c = lane; c < cols; c += 32) y[r * cols + c] = __fdividef(__expf(row[c] - m), sum);
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  k<<<(rows + 3) / 4, 128>>>(x, y, rows, cols);
}
