// task: quantize
// kind: 21
// stage: L0
// reason: out of bounds
__global__ void k(const float* x, char4* q, float scale, int words, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  float v[4];
  for (int j = 0; j < 4; ++j) v[j] = 4 * i + j < n ? fminf(fmaxf(rintf(x[4 * i + j] * scale), -128.0f), 127.0f) : 0.0f;
  q[i] = make_char4(v[0], v[1], v[2], v[3]);
}
extern "C" void quantize(const float* x, signed char* q, float scale, int n) {
  k<<<(n + 1023) / 1024, 256>>>(x, (char4*)q, scale, (n + 3) / 4, n);
}
