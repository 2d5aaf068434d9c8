// task: softmax
// kind: 22
// stage: L0
// reason: uninitialised
__global__ void k(const float* x, float* y, int rows, int cols) {
  __shared__ float s[128];
  int r = blockIdx.x;
  int t = threadIdx.x;
  float m = -INFINITY;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[r * cols + c]);
  float sum = 0.0f;
  for (int c = t; c < cols; c += 128) sum += expf(x[r * cols + c] - m);
  if (t < cols) s[t] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int i = 0; i < 128; ++i) total += s[i];  // beyond cols nobody wrote
  for (int c = t; c < cols; c += 128) y[r * cols + c] = expf(x[r * cols + c] - m) / total;
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  k<<<rows, 128>>>(x, y, rows, cols);
}
