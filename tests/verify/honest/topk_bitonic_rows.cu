// task: topk
// A row is sorted in shared memory by a bitonic network over keys of value and column, padded with
// sentinels; wider rows go through it in pieces, whose best go on.
constexpr int kSize = 256;
__device__ unsigned long long key(float v, int column) {
  unsigned bits = __float_as_uint(v + 0.0f);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(~bits) << 32 | static_cast<unsigned>(column);
}
__global__ void k(const float* x, float* values, int* columns, int cols, int want) {
  __shared__ unsigned long long s[kSize];
  const int t = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  const unsigned long long sentinel = ~0ull;
  int filled = 0;
  for (int base = 0; base < cols;) {
    const int room = kSize - filled;
    for (int i = t; i < kSize; i += blockDim.x) {
      if (i >= filled) s[i] = base + i - filled < cols ? key(row[base + i - filled], base + i - filled) : sentinel;
    }
    base += room;
    for (int size = 2; size <= kSize; size *= 2) {
      for (int d = size / 2; d > 0; d /= 2) {
        __syncthreads();
        const int i = 2 * t - (t & (d - 1)), j = i + d;
        const bool up = (i & size) == 0;
        const unsigned long long a = s[i], b = s[j];
        if ((a > b) == up) s[i] = b, s[j] = a;
      }
    }
    __syncthreads();
    filled = want;
  }
  if (t < want) {
    const int column = static_cast<int>(static_cast<unsigned>(s[t]));
    values[blockIdx.x * want + t] = row[column];
    columns[blockIdx.x * want + t] = column;
  }
}
extern "C" void topk(const float* x, float* values, int* columns, int rows, int cols, int k_) {
  k<<<rows, kSize / 2>>>(x, values, columns, cols, k_);
}
