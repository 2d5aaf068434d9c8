// task: matmul
// kind: 14
// stage: L0
// reason: out of bounds
__global__ void k(const float* a, const float* b, float* c, int m, int n, int p) {
  __shared__ float sa[16][16];
  __shared__ float sb[16][16];
  int j = blockIdx.x * 16 + threadIdx.x;
  int i = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int t = 0; t < p; t += 16) {
    sa[threadIdx.y][threadIdx.x] = a[i * p + t + threadIdx.x];
    sb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + j];
    __syncthreads();
    for (int q = 0; q < 16; ++q) sum += sa[threadIdx.y][q] * sb[q][threadIdx.x];
    __syncthreads();
  }
  if (i < m && j < n) c[i * n + j] = sum;
}
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k_) {
  k<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k_);
}
