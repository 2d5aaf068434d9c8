// task: scan
// Up and down a tree in shared memory, padded against bank conflicts; the launcher calls itself for
// the sums of the blocks.
constexpr int kElements = 256;
__device__ int place(int i) { return i + (i >> 5); }
__global__ void scan_block(const int* x, int* y, int* sums, int n) {
  __shared__ int s[kElements + kElements / 32];
  const int t = threadIdx.x;
  const int base = blockIdx.x * kElements;
  const int a = base + t < n ? x[base + t] : 0;
  const int b = base + t + kElements / 2 < n ? x[base + t + kElements / 2] : 0;
  s[place(t)] = a;
  s[place(t + kElements / 2)] = b;
  int offset = 1;
  for (int d = kElements / 2; d > 0; d >>= 1, offset *= 2) {
    __syncthreads();
    if (t < d) s[place(offset * (2 * t + 2) - 1)] += s[place(offset * (2 * t + 1) - 1)];
  }
  __syncthreads();
  if (t == 0) {
    sums[blockIdx.x] = s[place(kElements - 1)];
    s[place(kElements - 1)] = 0;
  }
  for (int d = 1; d < kElements; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int l = place(offset * (2 * t + 1) - 1), r = place(offset * (2 * t + 2) - 1);
      const int v = s[l];
      s[l] = s[r];
      s[r] += v;
    }
  }
  __syncthreads();
  if (base + t < n) y[base + t] = s[place(t)] + a;
  if (base + t + kElements / 2 < n) y[base + t + kElements / 2] = s[place(t + kElements / 2)] + b;
}
__global__ void add(int* y, const int* sums, int n) {
  const int i = (blockIdx.x + 1) * kElements + threadIdx.x;
  if (i < n) y[i] += sums[blockIdx.x];
}
static void scan_level(const int* x, int* y, int n) {
  const int blocks = (n + kElements - 1) / kElements;
  int* sums = nullptr;
  cudaMalloc(&sums, blocks * sizeof(int));
  scan_block<<<blocks, kElements / 2>>>(x, y, sums, n);
  if (blocks > 1) {
    scan_level(sums, sums, blocks);
    add<<<blocks - 1, kElements>>>(y, sums, n);
  }
  cudaFree(sums);
}
extern "C" void scan(const int* x, int* y, int* workspace, int n) { scan_level(x, y, n); }
