// task: stencil2d
// kind: 21
// stage: L0
// reason: out of bounds
__global__ void k(const float* in, const float* w, float* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float s = 0.0f;
  for (int dr = -3; dr <= 3; ++dr)
    for (int dc = -3; dc <= 3; ++dc) {
      float v = in[(r + dr) * cols + c + dc];
      s += w[(dr + 3) * 7 + dc + 3] * (r + dr >= 0 && r + dr < rows && c + dc >= 0 && c + dc < cols ? v : 0.0f);
    }
  out[r * cols + c] = s;
}
extern "C" void stencil2d(const float* in, const float* weights, float* out, int rows, int cols) {
  k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(in, weights, out, rows, cols);
}
