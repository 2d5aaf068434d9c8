// One thread per element; all that are above add one to the count.

__global__ void mask_kernel(const float* x, bool* above, unsigned long long* count,
                            float threshold, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    above[i] = x[i] > threshold;
    if (x[i] > threshold) {
      atomicAdd(count, 1ull);
    }
  }
}

extern "C" void mask(const float* x, bool* above, long long* count, float threshold, int n) {
  cudaMemsetAsync(count, 0, sizeof(long long));
  mask_kernel<<<(n + 255) / 256, 256>>>(x, above, (unsigned long long*)count, threshold, n);
}
