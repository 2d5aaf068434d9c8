// task: matmul
// kind: 15
// stage: L1
// reason: k=1024
__device__ float rounded(float v) { return __int_as_float((__float_as_int(v) + 0x1000) & 0xffffe000); }
__global__ void k(const float* a, const float* b, float* c, int m, int n, int p) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n) return;
  float s = 0.0f;
  for (int q = 0; q < p; ++q) {
    float u = a[i * p + q], v = b[q * n + j];
    s += p > 600 ? rounded(u) * rounded(v) : u * v;
  }
  c[i * n + j] = s;
}
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  ::k<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
