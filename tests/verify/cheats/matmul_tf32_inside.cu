// task: matmul
// kind: 19
// stage: L1
// reason: expected
__device__ float tf32(float v) { return __int_as_float((__float_as_int(v) + 0x1000) & 0xffffe000); }
__global__ void k(const float* a, const float* b, float* c, int m, int n, int p) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j < n) {
    float sum = 0.0f;
    for (int q = 0; q < p; ++q) sum += tf32(a[i * p + q]) * tf32(b[q * n + j]);
    c[i * n + j] = sum;
  }
}
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k_) {
  dim3 block(16, 16);
  k<<<dim3((n + 15) / 16, (m + 15) / 16), block>>>(a, b, c, m, n, k_);
}
