// task: matmul
template <int T>
__global__ void k(const float* a, const float* b, float* c, int m, int n, int p) {
  __shared__ float sa[T][T];
  __shared__ float sb[T][T];
  int j = blockIdx.x * T + threadIdx.x;
  int i = blockIdx.y * T + threadIdx.y;
  float sum = 0.0f;
  for (int t = 0; t < p; t += T) {
    int ka = t + threadIdx.x;
    int kb = t + threadIdx.y;
    sa[threadIdx.y][threadIdx.x] = i < m && ka < p ? a[i * p + ka] : 0.0f;
    sb[threadIdx.y][threadIdx.x] = kb < p && j < n ? b[kb * n + j] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < T; ++q) sum = fmaf(sa[threadIdx.y][q], sb[q][threadIdx.x], sum);
    __syncthreads();
  }
  if (i < m && j < n) c[i * n + j] = sum;
}
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k_) {
  k<16><<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k_);
}
