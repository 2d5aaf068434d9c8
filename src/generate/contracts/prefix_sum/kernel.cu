// y = the {{kind.title}} prefix sum of x: every block scans its elements in shared memory and leaves its
// total; the totals are scanned in the same way and added to the elements of the later blocks.

#define BLOCK 256

__global__ void scan_totals_kernel(const {{type}}* x, {{type}}* y, {{type}}* totals, int n) {
  __shared__ {{type}} values[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  values[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int step = 1; step < BLOCK; step *= 2) {
    {{type}} before = threadIdx.x >= step ? values[threadIdx.x - step] : 0;
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

__global__ void scan_block_kernel(const {{type}}* x, {{type}}* y, {{type}}* totals, int n) {
  __shared__ {{type}} values[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  {{type}} own = i < n ? x[i] : 0;
  values[threadIdx.x] = own;
  __syncthreads();
  for (int step = 1; step < BLOCK; step *= 2) {
    {{type}} before = threadIdx.x >= step ? values[threadIdx.x - step] : 0;
    __syncthreads();
    values[threadIdx.x] += before;
    __syncthreads();
  }
  if (i < n) {
    y[i] = {{kind.value}};
  }
  if (threadIdx.x == BLOCK - 1) {
    totals[blockIdx.x] = values[threadIdx.x];
  }
}

__global__ void add_totals_kernel({{type}}* y, const {{type}}* totals, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (blockIdx.x > 0 && i < n) {
    y[i] += totals[blockIdx.x - 1];
  }
}

static void scan_totals({{type}}* x, int n) {
  int blocks = (n + BLOCK - 1) / BLOCK;
  {{type}}* totals;
  cudaMalloc(&totals, blocks * sizeof({{type}}));
  scan_totals_kernel<<<blocks, BLOCK>>>(x, x, totals, n);
  if (blocks > 1) {
    scan_totals(totals, blocks);
    add_totals_kernel<<<blocks, BLOCK>>>(x, totals, n);
  }
  cudaFree(totals);
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* y, int n) {
  int blocks = (n + BLOCK - 1) / BLOCK;
  {{type}}* totals;
  cudaMalloc(&totals, blocks * sizeof({{type}}));
  scan_block_kernel<<<blocks, BLOCK>>>(x, y, totals, n);
  if (blocks > 1) {
    scan_totals(totals, blocks);
    add_totals_kernel<<<blocks, BLOCK>>>(y, totals, n);
  }
  cudaFree(totals);
}
