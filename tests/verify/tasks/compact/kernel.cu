// Two phases: places of what is kept, whose number is read back and sizes the second grid.
__global__ void find(const int* x, int* places, int* count, int n) {
  __shared__ int sum[256];
  __shared__ int base;
  if (threadIdx.x == 0) base = 0;
  for (int begin = 0; begin < n; begin += 256) {
    int i = begin + threadIdx.x;
    int keep = i < n && x[i] % 2 == 0;
    __syncthreads();
    sum[threadIdx.x] = keep;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
      int left = threadIdx.x >= d ? sum[threadIdx.x - d] : 0;
      __syncthreads();
      sum[threadIdx.x] += left;
      __syncthreads();
    }
    if (keep) places[base + sum[threadIdx.x] - 1] = i;
    __syncthreads();
    if (threadIdx.x == 0) base += sum[255];
  }
  __syncthreads();
  if (threadIdx.x == 0) *count = base;
}

__global__ void square(const int* x, const int* places, int* y, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[places[i]] * x[places[i]];
}

extern "C" void compact(const int* x, int* y, int n) {
  int* places;
  int* count;
  cudaMalloc(&places, n * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMemset(y, 0xff, n * sizeof(int));
  find<<<1, 256>>>(x, places, count, n);
  int kept;
  cudaMemcpy(&kept, count, sizeof(int), cudaMemcpyDeviceToHost);
  if (kept > 0) square<<<(kept + 127) / 128, 128>>>(x, places, y, kept);
  cudaFree(places);
  cudaFree(count);
}
