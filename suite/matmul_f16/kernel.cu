// c[i][j] = sum over p of a[i][p] * b[p][j], summed in float: one thread per element of c.

#include <cuda_fp16.h>

__global__ void matmul_f16_kernel(const __half* a, const __half* b, __half* c, int m, int n,
                                  int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j < n) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) {
      sum += __half2float(a[i * k + p]) * __half2float(b[p * n + j]);
    }
    c[i * n + j] = __float2half(sum);
  }
}

extern "C" void matmul_f16(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  matmul_f16_kernel<<<grid, block>>>(a, b, c, m, n, k);
}
