// task: suite/matmul_f16
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* a, const half* b, half* c, int m, int n, int p) {
  __shared__ __align__(32) half sa[16 * 16];
  __shared__ __align__(32) half sb[16 * 16];
  __shared__ __align__(32) float sc[16 * 16];
  const int row = blockIdx.y * 16, col = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int q = 0; q < p; q += 16) {
    for (int e = threadIdx.x; e < 256; e += 32) {
      const int i = e / 16, j = e % 16;
      sa[e] = row + i < m && q + j < p ? a[(row + i) * p + q + j] : __float2half(0.0f);
      sb[e] = q + i < p && col + j < n ? b[(q + i) * n + col + j] : __float2half(0.0f);
    }
    __syncwarp();
    wmma::load_matrix_sync(fa, sa, 16);
    wmma::load_matrix_sync(fb, sb, 16);
    wmma::mma_sync(acc, fa, fb, acc);
    __syncwarp();
  }
  wmma::store_matrix_sync(sc, acc, 16, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < 256; e += 32) {
    const int i = row + e / 16, j = col + e % 16;
    if (i < m && j < n) c[i * n + j] = __float2half_rn(sc[e]);
  }
}
extern "C" void matmul_f16(const __half* a, const __half* b, __half* c, int m, int n, int k_) {
  k<<<dim3((n + 15) / 16, (m + 15) / 16), 32>>>(a, b, c, m, n, k_);
}
