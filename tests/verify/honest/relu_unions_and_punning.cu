// task: relu
// The same words as floats, as ints and as bytes.
union Pack {
  float4 vector;
  float f[4];
  unsigned int word[4];
  unsigned char byte[16];
};
__global__ void k(const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  Pack pack;
  const bool whole = i + 4 <= n;
  if (whole) {
    pack.vector = *reinterpret_cast<const float4*>(x + i);
  } else {
    for (int j = 0; j < 4; ++j) pack.f[j] = i + j < n ? x[i + j] : 0.0f;
  }
  for (int j = 0; j < 4; ++j) {
    if (pack.byte[4 * j + 3] & 0x80) pack.word[j] = 0;
  }
  if (whole) {
    *reinterpret_cast<float4*>(y + i) = pack.vector;
  } else {
    for (int j = 0; i + j < n; ++j) memcpy(&y[i + j], &pack.byte[4 * j], 4);
  }
}
extern "C" void relu(const float* x, float* y, int n) { k<<<(n + 1023) / 1024, 256>>>(x, y, n); }
