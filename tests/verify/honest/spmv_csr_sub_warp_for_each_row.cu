// task: suite/spmv_csr
// Four lanes a row, with masks of their own.
__global__ void k(const long long* offsets, const long long* columns, const float* values, const float* x,
                  float* y, int rows) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = thread / 4, lane = thread % 4;
  if (row >= rows) return;
  const unsigned mask = 0xfu << (threadIdx.x & 28);
  float sum = 0.0f;
  for (long long e = __ldg(offsets + row) + lane; e < __ldg(offsets + row + 1); e += 4) {
    sum += values[e] * __ldg(x + columns[e]);
  }
  sum += __shfl_down_sync(mask, sum, 2, 4);
  sum += __shfl_down_sync(mask, sum, 1, 4);
  if (lane == 0) y[row] = sum;
}
extern "C" void spmv_csr(const long long* offsets, const long long* columns, const float* values,
                         const float* x, float* y, int rows) {
  k<<<(rows * 4 + 127) / 128, 128>>>(offsets, columns, values, x, y, rows);
}
