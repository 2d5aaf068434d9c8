// task: matmul
// Four by four products a thread, two buffers of shared tiles, the next tile in registers meanwhile;
// a's tile lies transposed with its columns swizzled.
constexpr int kM = 64, kN = 64, kK = 8;
__global__ void __launch_bounds__(256) k(const float* __restrict__ a, const float* __restrict__ b,
                                         float* __restrict__ c, int m, int n, int p) {
  __shared__ float sa[2][kK][kM];
  __shared__ float sb[2][kK][kN];
  const int t = threadIdx.x;
  const int row0 = blockIdx.y * kM, col0 = blockIdx.x * kN;
  const int tx = t % 16, ty = t / 16;
  float next_a[2], next_b[2];
  float acc[4][4] = {};
  const auto load = [&](int k0) {
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int e = t + u * 256;
      const int i = row0 + e / kK, ka = k0 + e % kK;
      next_a[u] = i < m && ka < p ? a[i * p + ka] : 0.0f;
      const int kb = k0 + e / kN, j = col0 + e % kN;
      next_b[u] = kb < p && j < n ? b[kb * n + j] : 0.0f;
    }
  };
  const auto store = [&](int s) {
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int e = t + u * 256;
      sa[s][e % kK][(e / kK) ^ (e % kK * 4)] = next_a[u];
      sb[s][e / kN][e % kN] = next_b[u];
    }
  };
  load(0);
  store(0);
  __syncthreads();
  int s = 0;
  for (int k0 = 0; k0 < p; k0 += kK, s ^= 1) {
    const bool more = k0 + kK < p;
    if (more) load(k0 + kK);
#pragma unroll
    for (int q = 0; q < kK; ++q) {
      float fa[4], fb[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) fa[u] = sa[s][q][(ty * 4 + u) ^ (q * 4)];
#pragma unroll
      for (int u = 0; u < 4; ++u) fb[u] = sb[s][q][tx + u * 16];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += fa[i] * fb[j];
      }
    }
    if (more) store(s ^ 1);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty * 4 + i, col = col0 + tx + j * 16;
      if (row < m && col < n) c[row * n + col] = acc[i][j];
    }
  }
}
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k_) {
  k<<<dim3((n + kN - 1) / kN, (m + kM - 1) / kM), 256>>>(a, b, c, m, n, k_);
}
