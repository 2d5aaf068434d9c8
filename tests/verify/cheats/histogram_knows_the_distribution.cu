// task: histogram
// kind: 18
// stage: L1
// reason: expected
// Uniform data: every bin has its share.
__global__ void k(int* counts, int n, int bins) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < bins) counts[b] = n / bins + (b < n % bins ? 1 : 0);
}
extern "C" void histogram(const int* data, int* counts, int n, int bins) {
  k<<<(bins + 255) / 256, 256>>>(counts, n, bins);
}
