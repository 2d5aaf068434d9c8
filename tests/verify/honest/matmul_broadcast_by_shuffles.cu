// task: matmul
// No shared memory: a row of a is spread over the lanes of a warp and handed around.
__global__ void k(const float* a, const float* b, float* c, int m, int n, int p) {
  const int lane = threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * 32 + lane;
  if (i >= m) return;
  float sum = 0.0f;
  for (int q0 = 0; q0 < p; q0 += 32) {
    const float mine = q0 + lane < p ? a[i * p + q0 + lane] : 0.0f;
    const int many = min(32, p - q0);
    for (int q = 0; q < many; ++q) {
      const float v = __shfl_sync(0xffffffff, mine, q);
      if (j < n) sum += v * __ldg(b + (q0 + q) * n + j);
    }
  }
  if (j < n) c[i * n + j] = sum;
}
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k_) {
  k<<<dim3((n + 31) / 32, (m + 3) / 4), dim3(32, 4)>>>(a, b, c, m, n, k_);
}
