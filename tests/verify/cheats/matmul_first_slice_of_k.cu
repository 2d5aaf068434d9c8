// task: matmul
// kind: 5
// stage: L1
// reason: expected
__global__ void k(const float* a, const float* b, float* c, int m, int n, int p) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n) return;
  float s = 0.0f;
  for (int q = 0; q < min(p, 32); ++q) s += a[i * p + q] * b[q * n + j];
  c[i * n + j] = s;
}
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  ::k<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
