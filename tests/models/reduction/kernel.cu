// sum = x[0] + ... + x[n - 1]: blocks stride over the array, four words a thread; one atomic a block.

__global__ void reduction_kernel(const float* x, float* sum, int n) {
  __shared__ float parts[8];
  float v = 0.0f;
  int stride = gridDim.x * blockDim.x;
  int first = blockIdx.x * blockDim.x + threadIdx.x;
  const float4* x4 = reinterpret_cast<const float4*>(x);
  for (int i = first; i < n / 4; i += stride) {
    float4 q = x4[i];
    v += (q.x + q.y) + (q.z + q.w);
  }
  for (int i = n / 4 * 4 + first; i < n; i += stride) {
    v += x[i];
  }
  for (int d = 16; d > 0; d /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, d);
  }
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = v;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int w = 0; w < 8; ++w) {
      total += parts[w];
    }
    atomicAdd(sum, total);
  }
}

extern "C" void reduction(const float* x, float* sum, int n) {
  cudaMemsetAsync(sum, 0, sizeof(float));
  int block = 256;
  int most = 1056;
  int grid = (n + block - 1) / block;
  reduction_kernel<<<grid < most ? grid : most, block>>>(x, sum, n);
}
