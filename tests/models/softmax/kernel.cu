// y[r][c] = exp(x[r][c] - max(x[r])) / sum(exp(x[r] - max(x[r]))): one block of a row, which is read
// once where it fits into registers.

#define QUADS 8

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

__global__ void __launch_bounds__(256) softmax_in_registers(const float* x, float* y, int cols) {
  __shared__ float parts[8];
  const float4* row = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * cols);
  float4* out = reinterpret_cast<float4*>(y + (size_t)blockIdx.x * cols);
  int quads = cols / 4;
  float4 v[QUADS];
#pragma unroll
  for (int k = 0; k < QUADS; ++k) {
    int q = threadIdx.x + k * 256;
    v[k] = q < quads ? row[q] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
  }
  float largest = v[0].x;
#pragma unroll
  for (int k = 0; k < QUADS; ++k) {
    largest = fmaxf(largest, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
  }
  largest = fold_max(largest, parts);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < QUADS; ++k) {
    v[k].x = expf(v[k].x - largest);
    v[k].y = expf(v[k].y - largest);
    v[k].z = expf(v[k].z - largest);
    v[k].w = expf(v[k].w - largest);
    sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  sum = fold_sum(sum, parts);
  float scale = 1.0f / sum;
#pragma unroll
  for (int k = 0; k < QUADS; ++k) {
    int q = threadIdx.x + k * 256;
    if (q < quads) {
      out[q] = make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale);
    }
  }
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
  if (cols % 4 == 0 && cols <= 4 * QUADS * 256) {
    softmax_in_registers<<<rows, 256>>>(x, y, cols);
  } else {
    softmax_kernel<<<rows, 256>>>(x, y, rows, cols);
  }
}
