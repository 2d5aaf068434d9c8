// task: reduction
// A counter in device memory, left at zero again by the last block.
__device__ unsigned int ticket = 0;
__device__ float parts[64];
__global__ void k(const float* x, float* sum, int n) {
  __shared__ float s[128];
  __shared__ bool last;
  float v = 0.0f;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) v += x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = s[0];
    __threadfence();
    last = atomicAdd(&ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0.0f;
    for (int i = 0; i < gridDim.x; ++i) total += ((volatile float*)parts)[i];
    *sum = total;
    ticket = 0;
  }
}
extern "C" void reduction(const float* x, float* sum, int n) {
  int blocks = (n + 127) / 128;
  k<<<blocks < 64 ? blocks : 64, 128>>>(x, sum, n);
}
