// task: topk
// kind: 1
// stage: L1
// reason: columns[0,0] is unwritten
__global__ void k(const float* x, float* values, int rows, int cols, int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float last = INFINITY;
  int last_column = -1;
  for (int j = 0; j < k; ++j) {
    int best = -1;
    for (int c = 0; c < cols; ++c) {
      float v = x[r * cols + c];
      if ((v < last || (v == last && c > last_column)) && (best < 0 || v > x[r * cols + best])) best = c;
    }
    last = x[r * cols + best];
    last_column = best;
    values[r * k + j] = last;
  }
}
extern "C" void topk(const float* x, float* values, int* columns, int rows, int cols, int k) {
  ::k<<<rows, 32>>>(x, values, rows, cols, k);
}
