// task: topk
// kind: 17
// stage: L1
// reason: columns[
__global__ void k(const float* x, float* values, int* columns, int rows, int cols, int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float last = INFINITY;
  int last_column = cols;
  for (int j = 0; j < k; ++j) {
    int best = -1;
    for (int c = 0; c < cols; ++c) {
      float v = x[r * cols + c];
      if ((v < last || (v == last && c < last_column)) && (best < 0 || v >= x[r * cols + best])) best = c;
    }
    last = x[r * cols + best];
    last_column = best;
    values[r * k + j] = last;
    columns[r * k + j] = best;
  }
}
extern "C" void topk(const float* x, float* values, int* columns, int rows, int cols, int k) {
  ::k<<<(rows + 31) / 32, 32>>>(x, values, columns, rows, cols, k);
}
