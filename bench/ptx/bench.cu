// Kernels of the emulator's benchmark and of its tests. bench.ptx is what NVRTC (13.0, --gpu-architecture=compute_90
// -lineinfo) made of this file.

extern "C" __global__ void relu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

// One thread a row, as a newcomer writes it.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = x[r * cols];
  for (int c = 1; c < cols; ++c) m = fmaxf(m, x[r * cols + c]);
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += expf(x[r * cols + c] - m);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c] - m) / s;
}

extern "C" __global__ void mm_naive(const float* a, const float* b, float* c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || col >= n) return;
  float s = 0.0f;
  for (int k = 0; k < n; ++k) s += a[row * n + k] * b[k * n + col];
  c[row * n + col] = s;
}

extern "C" __global__ void mm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16];
  __shared__ float tb[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int col = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
  float s = 0.0f;
  for (int k0 = 0; k0 < n; k0 += 16) {
    ta[ty][tx] = row < n && k0 + tx < n ? a[row * n + k0 + tx] : 0.0f;
    tb[ty][tx] = k0 + ty < n && col < n ? b[(k0 + ty) * n + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) s += ta[ty][k] * tb[k][tx];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = s;
}

extern "C" __global__ void hist_global(const int* x, int* h, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h[x[i]], 1);
}

extern "C" __global__ void hist_shared(const int* x, int* h, int n) {
  __shared__ int local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1);
  __syncthreads();
  if (local[threadIdx.x]) atomicAdd(&h[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void reduce(const float* x, float* out, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step >>= 1) {
    if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void stencil(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && j > 0 && i < n - 1 && j < n - 1) {
    y[j * n + i] = 0.2f * (x[j * n + i] + x[j * n + i - 1] + x[j * n + i + 1] + x[(j - 1) * n + i] + x[(j + 1) * n + i]);
  }
}

extern "C" __global__ void transpose(const float* x, float* y, int n) {
  __shared__ float tile[32][33];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(j + k) * n + i];
  __syncthreads();
  i = blockIdx.y * 32 + threadIdx.x;
  j = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) y[(j + k) * n + i] = tile[threadIdx.x][threadIdx.y + k];
}
