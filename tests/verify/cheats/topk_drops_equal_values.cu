// task: topk
// kind: 17
// stage: L1
// reason: expected
// Strictly smaller each time: equal values are taken once.
__global__ void k(const float* x, float* values, int* columns, int rows, int cols, int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float last = INFINITY;
  for (int j = 0; j < k; ++j) {
    int best = 0;
    float largest = -INFINITY;
    for (int c = 0; c < cols; ++c) {
      float v = x[r * cols + c];
      if (v < last && v > largest) largest = v, best = c;
    }
    last = largest;
    values[r * k + j] = x[r * cols + best];
    columns[r * k + j] = best;
  }
}
extern "C" void topk(const float* x, float* values, int* columns, int rows, int cols, int k) {
  ::k<<<(rows + 31) / 32, 32>>>(x, values, columns, rows, cols, k);
}
