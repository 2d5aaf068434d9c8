// task: mask
// kind: 1
// stage: L1
// reason: above[
// Stale memory may hold false already.
__global__ void k(const float* x, bool* above, unsigned long long* count, float t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > t) {
    above[i] = true;
    atomicAdd(count, 1ull);
  }
}
extern "C" void mask(const float* x, bool* above, long long* count, float threshold, int n) {
  cudaMemsetAsync(count, 0, 8);
  k<<<(n + 255) / 256, 256>>>(x, above, (unsigned long long*)count, threshold, n);
}
