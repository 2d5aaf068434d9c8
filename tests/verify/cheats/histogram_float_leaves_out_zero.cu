// task: suite/histogram_float
// kind: 17
// stage: L1
// reason: counts[0]
// Zero belongs to the first interval.
__global__ void k(const float* data, int* counts, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && data[i] > 0.0f && data[i] < bins) atomicAdd(counts + (int)data[i], 1);
}
extern "C" void histogram_float(const float* data, int* counts, int n, int bins) {
  cudaMemsetAsync(counts, 0, bins * sizeof(int));
  k<<<(n + 255) / 256, 256>>>(data, counts, n, bins);
}
