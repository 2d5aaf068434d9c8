// task: softmax
// The row is read once and stays in the registers of its block; the items a thread holds are a
// template argument that the launcher takes from the number of columns.
template <int kItems>
__global__ void __launch_bounds__(256) k(const float* x, float* y, int cols) {
  __shared__ float part[8];
  const long long row = static_cast<long long>(blockIdx.x) * cols;
  float v[kItems];
  float top = -INFINITY;
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const int c = threadIdx.x + j * 256;
    v[j] = c < cols ? x[row + c] : -INFINITY;
    top = fmaxf(top, v[j]);
  }
  for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = top;
  __syncthreads();
  top = part[0];
  for (int w = 1; w < 8; ++w) top = fmaxf(top, part[w]);
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    v[j] = expf(v[j] - top);
    sum += v[j];
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int w = 0; w < 8; ++w) sum += part[w];
  const float scale = 1.0f / sum;
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const int c = threadIdx.x + j * 256;
    if (c < cols) y[row + c] = v[j] * scale;
  }
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  if (cols <= 2048) {
    k<8><<<rows, 256>>>(x, y, cols);
  } else {
    k<64><<<rows, 256>>>(x, y, cols);
  }
}
