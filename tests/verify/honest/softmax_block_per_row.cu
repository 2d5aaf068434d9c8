// task: softmax
// timed: compared
__global__ void k(const float* x, float* y, int rows, int cols) {
  __shared__ float s[128];
  int r = blockIdx.x;
  int t = threadIdx.x;
  float m = -INFINITY;
  for (int c = t; c < cols; c += 128) m = fmaxf(m, x[r * cols + c]);
  s[t] = m;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = t; c < cols; c += 128) sum += expf(x[r * cols + c] - m);
  s[t] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  float scale = 1.0f / s[0];
  for (int c = t; c < cols; c += 128) y[r * cols + c] = expf(x[r * cols + c] - m) * scale;
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) { k<<<rows, 128>>>(x, y, rows, cols); }
