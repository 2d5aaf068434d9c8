// c[i][j] = sum over p of a[i][p] * b[p][j]: one thread per element of c.

__global__ void matmul_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j < n) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) {
      sum += a[i * k + p] * b[p * n + j];
    }
    c[i * n + j] = sum;
  }
}

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  matmul_kernel<<<grid, block>>>(a, b, c, m, n, k);
}
