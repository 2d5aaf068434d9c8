// task: scan
// kind: 26
// stage: plan
// reason: nothing orders this work
__global__ void parts(const int* x, int* y, int* sums, int n) {
  int s = 0;
  for (int i = blockIdx.x * 128; i < min(n, (int)blockIdx.x * 128 + 128); ++i) y[i] = s += x[i];
  sums[blockIdx.x] = s;
}
__global__ void add(int* y, const int* sums, int n) {
  int s = 0;
  for (int b = 0; b < blockIdx.x; ++b) s += sums[b];
  for (int i = blockIdx.x * 128; i < min(n, (int)blockIdx.x * 128 + 128); ++i) y[i] += s;
}
extern "C" void scan(const int* x, int* y, int* workspace, int n) {
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  int blocks = (n + 127) / 128;
  parts<<<blocks, 1, 0, a>>>(x, y, workspace, n);
  add<<<blocks, 1, 0, b>>>(y, workspace, n);
  cudaDeviceSynchronize();
}
