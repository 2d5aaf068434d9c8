// task: matmul
// The sum over k is cut into parts, which meet by atomic addition.
__global__ void k(const float* a, const float* b, float* c, int m, int n, int p, int part) {
  const int j = blockIdx.x * 16 + threadIdx.x;
  const int i = blockIdx.y * 16 + threadIdx.y;
  if (i >= m || j >= n) return;
  const int begin = blockIdx.z * part, end = min(p, begin + part);
  float sum = 0.0f;
  for (int q = begin; q < end; ++q) sum = fmaf(a[i * p + q], b[q * n + j], sum);
  atomicAdd(c + i * n + j, sum);
}
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k_) {
  cudaMemset2DAsync(c, n * sizeof(float), 0, n * sizeof(float), m);
  const int parts = 4, part = (k_ + parts - 1) / parts;
  k<<<dim3((n + 15) / 16, (m + 15) / 16, parts), dim3(16, 16)>>>(a, b, c, m, n, k_, part);
}
