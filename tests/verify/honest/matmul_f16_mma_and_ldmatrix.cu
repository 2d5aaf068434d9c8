// task: suite/matmul_f16
// Fragments by ldmatrix from shared tiles whose 16-byte pieces are swizzled.
#include <cuda_fp16.h>
#include <cstdint>
__device__ uint32_t at(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ int piece(int row, int column) { return row * 16 + ((column / 8) ^ (row / 4 & 1)) * 8 + column % 8; }
__global__ void k(const __half* a, const __half* b, __half* c, int m, int n, int p) {
  __shared__ alignas(16) __half sa[16 * 16];
  __shared__ alignas(16) __half sb[16 * 16];
  const int lane = threadIdx.x, row = blockIdx.y * 16, col = blockIdx.x * 16;
  float d[2][4] = {};
  for (int q = 0; q < p; q += 16) {
    for (int e = lane; e < 256; e += 32) {
      const int i = e / 16, j = e % 16;
      sa[piece(i, j)] = row + i < m && q + j < p ? a[(row + i) * p + q + j] : __half(0.0f);
      sb[piece(i, j)] = q + i < p && col + j < n ? b[(q + i) * n + col + j] : __half(0.0f);
    }
    __syncwarp();
    uint32_t fa[4], fb[4];
    const int r = lane % 16, s = lane / 16 * 8;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(at(sa + piece(r, s))));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3])
                 : "r"(at(sb + piece(r, s))));
    for (int h = 0; h < 2; ++h) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[h][0]), "+f"(d[h][1]), "+f"(d[h][2]), "+f"(d[h][3])
          : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * h]), "r"(fb[2 * h + 1]));
    }
    __syncwarp();
  }
  for (int h = 0; h < 2; ++h) {
    for (int u = 0; u < 4; ++u) {
      const int i = row + lane / 4 + u / 2 * 8, j = col + h * 8 + lane % 4 * 2 + u % 2;
      if (i < m && j < n) c[i * n + j] = __float2half(d[h][u]);
    }
  }
}
extern "C" void matmul_f16(const __half* a, const __half* b, __half* c, int m, int n, int k_) {
  k<<<dim3((n + 15) / 16, (m + 15) / 16), 32>>>(a, b, c, m, n, k_);
}
