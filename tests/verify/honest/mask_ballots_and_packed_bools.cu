// task: mask
// Four bools make a word; the count is added up by popc of votes, one atomic a warp.
__global__ void k(const float* x, bool* above, unsigned long long* count, float threshold, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned word = 0;
  int mine = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const bool is = 4 * i + j < n && x[4 * i + j] > threshold;
    word |= static_cast<unsigned>(is) << 8 * j;
    mine += __popc(__ballot_sync(0xffffffffu, is));
  }
  if (4 * i + 3 < n) {
    reinterpret_cast<unsigned*>(above)[i] = word;
  } else {
    for (int j = 0; 4 * i + j < n; ++j) above[4 * i + j] = (word >> 8 * j & 1) != 0;
  }
  if (threadIdx.x % 32 == 0 && mine > 0) atomicAdd(count, static_cast<unsigned long long>(mine));
}
extern "C" void mask(const float* x, bool* above, long long* count, float threshold, int n) {
  cudaMemsetAsync(count, 0, sizeof(long long));
  k<<<(n + 1023) / 1024, 256>>>(x, above, reinterpret_cast<unsigned long long*>(count), threshold, n);
}
