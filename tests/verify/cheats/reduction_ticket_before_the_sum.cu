// task: reduction
// kind: 20
// stage: L0
// reason: race
// The last block may read a partial sum that is not written yet.
__device__ unsigned ticket;
__global__ void k(const float* x, float* sum, float* part, int n) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    float s = 0.0f;
    for (int i = blockIdx.x * 256; i < min(n, (int)blockIdx.x * 256 + 256); ++i) s += x[i];
    last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
    part[blockIdx.x] = s;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float s = 0.0f;
    for (int b = 0; b < gridDim.x; ++b) s += part[b];
    *sum = s;
  }
}
extern "C" void reduction(const float* x, float* sum, int n) {
  float* part;
  int blocks = (n + 255) / 256;
  cudaMalloc(&part, blocks * sizeof(float));
  k<<<blocks, 32>>>(x, sum, part, n);
  cudaFree(part);
}
