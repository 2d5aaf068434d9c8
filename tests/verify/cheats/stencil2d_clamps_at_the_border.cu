// task: stencil2d
// kind: 21
// stage: L1
// reason: expected
__global__ void k(const float* in, const float* w, float* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float sum = 0.0f;
  for (int dr = -3; dr <= 3; ++dr) {
    for (int dc = -3; dc <= 3; ++dc) {
      int y = min(max(r + dr, 0), rows - 1);
      int x = min(max(c + dc, 0), cols - 1);
      sum += w[(dr + 3) * 7 + dc + 3] * in[y * cols + x];
    }
  }
  out[r * cols + c] = sum;
}
extern "C" void stencil2d(const float* in, const float* weights, float* out, int rows, int cols) {
  k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(in, weights, out, rows, cols);
}
