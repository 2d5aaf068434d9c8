// task: topk
// kind: 5
// stage: L1
// reason: expected
__global__ void k(const float* x, float* values, int* columns, int rows, int cols, int k) {
  int r = blockIdx.x;
  float v = threadIdx.x < cols ? x[r * cols + threadIdx.x] : -INFINITY;
  int c = threadIdx.x;
  for (int j = 0; j < k; ++j) {
    float best = v;
    int at = c;
    for (int d = 16; d > 0; d /= 2) {
      float ov = __shfl_xor_sync(0xffffffff, best, d);
      int oc = __shfl_xor_sync(0xffffffff, at, d);
      if (ov > best || (ov == best && oc < at)) best = ov, at = oc;
    }
    if (threadIdx.x == 0) values[r * k + j] = best, columns[r * k + j] = at;
    if (at == c) v = -INFINITY;
  }
}
extern "C" void topk(const float* x, float* values, int* columns, int rows, int cols, int k) {
  ::k<<<rows, 32>>>(x, values, columns, rows, cols, k);
}
