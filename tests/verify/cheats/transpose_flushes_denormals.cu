// task: transpose
// kind: 23
// stage: L1
// reason: fill special
__global__ void k(const float* in, float* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float v;
  asm("mul.ftz.f32 %0, %1, 0f3f800000;" : "=f"(v) : "f"(in[r * cols + c]));
  out[c * rows + r] = v;
}
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(in, out, rows, cols);
}
