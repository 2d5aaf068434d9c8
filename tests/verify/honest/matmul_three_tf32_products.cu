// task: matmul
// Tensor cores for float: each factor is split into two tf32 numbers, and three of the four products
// are summed; as accurate as single precision.
#include <cstdint>
__device__ uint32_t tf32(float v) {
  uint32_t r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
  return r;
}
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__global__ void k(const float* a, const float* b, float* c, int m, int n, int p) {
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const int row = blockIdx.y * 16, col = blockIdx.x * 8;
  float d[4] = {};
  for (int q = 0; q < p; q += 8) {
    uint32_t ah[4], al[4], bh[2], bl[2];
    for (int u = 0; u < 4; ++u) {
      const int i = row + g + (u & 1) * 8, s = q + t + (u >> 1) * 4;
      const float v = i < m && s < p ? a[i * p + s] : 0.0f;
      ah[u] = tf32(v);
      al[u] = tf32(v - __uint_as_float(ah[u]));
    }
    for (int u = 0; u < 2; ++u) {
      const int s = q + t + u * 4, j = col + g;
      const float v = s < p && j < n ? b[s * n + j] : 0.0f;
      bh[u] = tf32(v);
      bl[u] = tf32(v - __uint_as_float(bh[u]));
    }
    mma(d, al, bh);
    mma(d, ah, bl);
    mma(d, ah, bh);
  }
  for (int u = 0; u < 4; ++u) {
    const int i = row + g + (u >> 1) * 8, j = col + t * 2 + (u & 1);
    if (i < m && j < n) c[i * n + j] = d[u];
  }
}
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k_) {
  k<<<dim3((n + 7) / 8, (m + 15) / 16), 32>>>(a, b, c, m, n, k_);
}
