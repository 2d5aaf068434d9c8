// task: histogram
// kind: 24
// stage: L1
// reason: on a later call
__device__ int kept[1024];
__global__ void k(const int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&kept[data[i]], 1);
}
__global__ void show(int* counts, int bins) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < bins) counts[b] = kept[b];
}
extern "C" void histogram(const int* data, int* counts, int n, int bins) {
  k<<<(n + 255) / 256, 256>>>(data, n);
  show<<<(bins + 255) / 256, 256>>>(counts, bins);
}
