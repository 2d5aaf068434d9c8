// task: softmax
// Maxima and sums in memory that the launcher allocates and frees on the stream.
__device__ float atomic_max(float* at, float v) {
  return v >= 0 ? __int_as_float(atomicMax(reinterpret_cast<int*>(at), __float_as_int(v)))
                : __uint_as_float(atomicMin(reinterpret_cast<unsigned*>(at), __float_as_uint(v)));
}
__global__ void start(float* top, float* sum, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) top[r] = -INFINITY, sum[r] = 0.0f;
}
__global__ void maxima(const float* x, float* top, int cols) {
  float v = -INFINITY;
  for (int c = blockIdx.x * 64 + threadIdx.x; c < cols; c += gridDim.x * 64) v = fmaxf(v, x[blockIdx.y * cols + c]);
  for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_down_sync(~0u, v, d));
  if (threadIdx.x % 32 == 0) atomic_max(top + blockIdx.y, v + 0.0f);
}
__global__ void sums(const float* x, float* y, const float* top, float* sum, int cols) {
  float s = 0.0f;
  for (int c = blockIdx.x * 64 + threadIdx.x; c < cols; c += gridDim.x * 64) {
    s += y[blockIdx.y * cols + c] = expf(x[blockIdx.y * cols + c] - top[blockIdx.y]);
  }
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) atomicAdd(sum + blockIdx.y, s);
}
__global__ void divide(float* y, const float* sum, int cols) {
  int c = blockIdx.x * 64 + threadIdx.x;
  if (c < cols) y[blockIdx.y * cols + c] /= sum[blockIdx.y];
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  float* scratch = nullptr;
  cudaMallocAsync(reinterpret_cast<void**>(&scratch), 2 * sizeof(float) * rows, 0);
  float *top = scratch, *sum = scratch + rows;
  start<<<(rows + 63) / 64, 64>>>(top, sum, rows);
  dim3 few((cols + 255) / 256, rows), all((cols + 63) / 64, rows);
  maxima<<<few, 64>>>(x, top, cols);
  sums<<<few, 64>>>(x, y, top, sum, cols);
  divide<<<all, 64>>>(y, sum, cols);
  cudaFreeAsync(scratch, 0);
}
