// task: topk
// kind: 17
// stage: L1
// reason: fill all_negative
// The running maximum starts at 0.
__global__ void k(const float* x, float* values, int* columns, int rows, int cols, int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + r * cols;
  bool any = false;
  for (int c = 0; c < cols; ++c) any = any || row[c] > 0;
  float last = INFINITY;
  int last_column = -1;
  for (int j = 0; j < k; ++j) {
    int best = -1;
    for (int c = 0; c < cols; ++c) {
      float v = row[c];
      if ((v < last || (v == last && c > last_column)) && (best < 0 || v > row[best])) best = c;
    }
    last = row[best];
    last_column = best;
    values[r * k + j] = any ? last : fmaxf(last, 0.0f);
    columns[r * k + j] = best;
  }
}
extern "C" void topk(const float* x, float* values, int* columns, int rows, int cols, int k) {
  ::k<<<(rows + 31) / 32, 32>>>(x, values, columns, rows, cols, k);
}
