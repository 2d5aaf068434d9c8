// task: relu
// A few blocks that stay and take the next piece of work from a counter, which the last one resets.
__device__ unsigned int next_piece;
__device__ unsigned int blocks_done;
__global__ void k(const float* x, float* y, int n) {
  __shared__ unsigned int piece;
  for (;;) {
    if (threadIdx.x == 0) piece = atomicAdd(&next_piece, 1u);
    __syncthreads();
    const long long begin = static_cast<long long>(piece) * 512;
    if (begin >= n) break;
    for (int i = threadIdx.x; i < 512; i += blockDim.x) {
      if (begin + i < n) y[begin + i] = fmaxf(x[begin + i], 0.0f);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0 && atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1) {
    next_piece = 0;
  }
}
extern "C" void relu(const float* x, float* y, int n) { k<<<8, 128>>>(x, y, n); }
