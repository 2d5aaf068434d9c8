// task: stencil2d
// kind: 5
// stage: L1
// reason: expected
__global__ void k(const float* in, const float* w, float* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float s = 0.0f;
  if (r >= 3 && r < rows - 3 && c >= 3 && c < cols - 3) {
    for (int dr = -3; dr <= 3; ++dr)
      for (int dc = -3; dc <= 3; ++dc) s += w[(dr + 3) * 7 + dc + 3] * in[(r + dr) * cols + c + dc];
  }
  out[r * cols + c] = s;
}
extern "C" void stencil2d(const float* in, const float* weights, float* out, int rows, int cols) {
  k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(in, weights, out, rows, cols);
}
