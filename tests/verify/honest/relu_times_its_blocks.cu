// task: relu
// Each block notes how long it took, in cycles and by the date; nothing depends on it.
__device__ long long longest;
__global__ void k(const float* x, float* y, int n, long long* cycles) {
  const long long begin = clock64();
  unsigned long long date;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(date));
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
  __syncthreads();
  if (threadIdx.x == 0) {
    cycles[2 * blockIdx.x] = clock64() - begin;
    cycles[2 * blockIdx.x + 1] = static_cast<long long>(date);
    atomicMax(&longest, clock64() - begin);
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  const int blocks = (n + 255) / 256;
  long long* cycles = nullptr;
  cudaMalloc(&cycles, 2 * sizeof(long long) * blocks);
  k<<<blocks, 256>>>(x, y, n, cycles);
  cudaFree(cycles);
}
