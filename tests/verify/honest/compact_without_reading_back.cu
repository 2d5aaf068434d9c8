// task: compact
// A candidate need not be in host mode because the task's own kernel is.
__global__ void compact_all(const int* x, int* y, int n) {
  __shared__ int warps[8];
  int base = 0;
  for (int begin = 0; begin < n; begin += 256) {
    int i = begin + threadIdx.x;
    int keep = i < n && x[i] % 2 == 0;
    unsigned mask = __ballot_sync(~0u, keep);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = __popc(mask);
    __syncthreads();
    int at = base + __popc(mask & ((1u << threadIdx.x % 32) - 1));
    for (int w = 0; w < 8; ++w) {
      if (w < threadIdx.x / 32) at += warps[w];
      base += warps[w];
    }
    if (keep) y[at] = x[i] * x[i];
  }
}
extern "C" void compact(const int* x, int* y, int n) {
  cudaMemset(y, 0xff, n * sizeof(int));
  compact_all<<<1, 256>>>(x, y, n);
}
