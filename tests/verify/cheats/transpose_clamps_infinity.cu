// task: transpose
// kind: 23
// stage: L1
// reason: fill special
__global__ void k(const float* in, float* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float v = in[r * cols + c];
  out[c * rows + r] = isinf(v) ? copysignf(3.402823466e38f, v) : v;
}
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(in, out, rows, cols);
}
