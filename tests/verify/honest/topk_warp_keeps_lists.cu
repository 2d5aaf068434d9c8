// task: topk
// Each lane keeps a sorted list in registers; the warp takes the best head again and again.
__global__ void k(const float* x, float* values, int* columns, int rows, int cols, int want) {
  const int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* row = x + r * cols;
  float taken_value = INFINITY;
  int taken_column = -1;
  for (int q = 0; q < want; ++q) {
    float best = -INFINITY;
    int at = cols;
    for (int c = lane; c < cols; c += 32) {
      const float v = row[c];
      const bool after = v < taken_value || (v == taken_value && c > taken_column);
      if (after && (at == cols || v > best)) best = v, at = c;
    }
    for (int d = 16; d > 0; d /= 2) {
      const float other = __shfl_xor_sync(~0u, best, d);
      const int other_at = __shfl_xor_sync(~0u, at, d);
      if (other_at < cols && (at == cols || other > best || (other == best && other_at < at))) {
        best = other;
        at = other_at;
      }
    }
    if (lane == q % 32) values[r * want + q] = best, columns[r * want + q] = at;
    taken_value = best;
    taken_column = at;
  }
}
extern "C" void topk(const float* x, float* values, int* columns, int rows, int cols, int k_) {
  k<<<(rows + 3) / 4, 128>>>(x, values, columns, rows, cols, k_);
}
