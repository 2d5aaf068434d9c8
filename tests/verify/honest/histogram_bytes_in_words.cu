// task: histogram
// Each warp counts in bytes, four to a word, and empties them before one can overflow.
__global__ void k(const int* data, int* counts, int n, int bins) {
  __shared__ unsigned int packed[64];
  for (int base = blockIdx.x * 192; base < n; base += gridDim.x * 192) {
    for (int i = threadIdx.x; i < 64; i += 32) packed[i] = 0;
    __syncwarp();
    for (int i = base + threadIdx.x; i < min(n, base + 192); i += 32) {
      atomicAdd(&packed[data[i] >> 2], 1u << 8 * (data[i] & 3));
    }
    __syncwarp();
    for (int b = threadIdx.x; b < bins; b += 32) {
      const unsigned count = __byte_perm(packed[b >> 2], 0, 0x4440 | (b & 3));
      if (count) atomicAdd(counts + b, static_cast<int>(count));
    }
    __syncwarp();
  }
}
__global__ void general(const int* data, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(counts + data[i], 1);
}
extern "C" void histogram(const int* data, int* counts, int n, int bins) {
  cudaMemsetAsync(counts, 0, bins * sizeof(int));
  if (bins <= 256) {
    k<<<(n + 191) / 192, 32>>>(data, counts, n, bins);
  } else {
    general<<<(n + 255) / 256, 256>>>(data, counts, n);
  }
}
