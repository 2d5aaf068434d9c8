// task: stencil2d
// kind: 20
// stage: L0
// reason: race
__global__ void k(const float* in, const float* w, float* out, int rows, int cols) {
  __shared__ float tile[22][22];
  int c0 = blockIdx.x * 16, r0 = blockIdx.y * 16;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 22 * 22; i += 256) {
    int r = r0 + i / 22 - 3, c = c0 + i % 22 - 3;
    tile[i / 22][i % 22] = r >= 0 && r < rows && c >= 0 && c < cols ? in[r * cols + c] : 0.0f;
  }
  int c = c0 + threadIdx.x, r = r0 + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float s = 0.0f;
  for (int dr = 0; dr < 7; ++dr)
    for (int dc = 0; dc < 7; ++dc) s += w[dr * 7 + dc] * tile[threadIdx.y + dr][threadIdx.x + dc];
  out[r * cols + c] = s;
}
extern "C" void stencil2d(const float* in, const float* weights, float* out, int rows, int cols) {
  k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(in, weights, out, rows, cols);
}
