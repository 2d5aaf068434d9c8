// y[i] = x[0] + ... + x[i]: every block scans its elements in shared memory and leaves its total;
// the totals are scanned in the same way and added to the elements of the later blocks.

#define BLOCK 256

__global__ void scan_block_kernel(const float* x, float* y, float* totals, int n) {
  __shared__ float values[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  values[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int step = 1; step < BLOCK; step *= 2) {
    float before = threadIdx.x >= step ? values[threadIdx.x - step] : 0.0f;
    __syncthreads();
    values[threadIdx.x] += before;
    __syncthreads();
  }
  if (i < n) {
    y[i] = values[threadIdx.x];
  }
  if (threadIdx.x == BLOCK - 1) {
    totals[blockIdx.x] = values[threadIdx.x];
  }
}

__global__ void add_totals_kernel(float* y, const float* totals, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (blockIdx.x > 0 && i < n) {
    y[i] += totals[blockIdx.x - 1];
  }
}

static void scan(const float* x, float* y, int n) {
  int blocks = (n + BLOCK - 1) / BLOCK;
  float* totals;
  cudaMalloc(&totals, blocks * sizeof(float));
  scan_block_kernel<<<blocks, BLOCK>>>(x, y, totals, n);
  if (blocks > 1) {
    scan(totals, totals, blocks);
    add_totals_kernel<<<blocks, BLOCK>>>(y, totals, n);
  }
  cudaFree(totals);
}

extern "C" void prefix_sum(const float* x, float* y, int n) {
  scan(x, y, n);
}
