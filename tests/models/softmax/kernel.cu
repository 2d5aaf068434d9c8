// y[r][c] = exp(x[r][c] - max(x[r])) / sum(exp(x[r] - max(x[r]))): one block of a row.

__device__ float fold_max(float v, float* parts) {
  for (int d = 16; d > 0; d /= 2) {
    v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
  }
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = v;
  }
  __syncthreads();
  v = parts[0];
  for (int w = 1; w < 8; ++w) {
    v = fmaxf(v, parts[w]);
  }
  __syncthreads();
  return v;
}

__device__ float fold_sum(float v, float* parts) {
  for (int d = 16; d > 0; d /= 2) {
    v += __shfl_xor_sync(0xffffffffu, v, d);
  }
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = v;
  }
  __syncthreads();
  v = parts[0];
  for (int w = 1; w < 8; ++w) {
    v += parts[w];
  }
  return v;
}

__global__ void softmax_kernel(const float* x, float* y, int rows, int cols) {
  __shared__ float parts[8];
  const float* row = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  float largest = row[0];
  for (int c = threadIdx.x; c < cols; c += 256) {
    largest = fmaxf(largest, row[c]);
  }
  largest = fold_max(largest, parts);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) {
    sum += expf(row[c] - largest);
  }
  sum = fold_sum(sum, parts);
  for (int c = threadIdx.x; c < cols; c += 256) {
    out[c] = expf(row[c] - largest) / sum;
  }
}

extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  softmax_kernel<<<rows, 256>>>(x, y, rows, cols);
}
