// task: reduction
__global__ void partial(const float* x, float* parts, int n) {
  __shared__ float s[256];
  float v = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = s[0];
}
__global__ void final(const float* parts, float* sum, int count) {
  float total = 0.0f;
  for (int i = 0; i < count; ++i) total += parts[i];
  *sum = total;
}
extern "C" void reduction(const float* x, float* sum, int n) {
  int blocks = n < 256 * 32 ? (n + 255) / 256 : 32;
  float* parts = nullptr;
  cudaMalloc(&parts, blocks * sizeof(float));
  partial<<<blocks, 256>>>(x, parts, n);
  final<<<1, 1>>>(parts, sum, blocks);
  cudaFree(parts);
}
