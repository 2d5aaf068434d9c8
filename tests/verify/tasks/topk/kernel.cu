// One thread per row: k passes, each takes the largest value that comes after the last one taken.

__global__ void topk_kernel(const float* x, float* values, int* columns, int rows, int cols,
                            int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) {
    return;
  }
  const float* row = x + r * cols;
  float last = INFINITY;
  int last_column = -1;
  for (int j = 0; j < k; ++j) {
    int best = -1;
    for (int c = 0; c < cols; ++c) {
      bool is_left = row[c] < last || (row[c] == last && c > last_column);
      if (is_left && (best < 0 || row[c] > row[best])) {
        best = c;
      }
    }
    last = row[best];
    last_column = best;
    values[r * k + j] = last;
    columns[r * k + j] = best;
  }
}

extern "C" void topk(const float* x, float* values, int* columns, int rows, int cols, int k) {
  topk_kernel<<<(rows + 63) / 64, 64>>>(x, values, columns, rows, cols, k);
}
