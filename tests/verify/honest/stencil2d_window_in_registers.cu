// task: stencil2d
// A thread walks down a column with seven rows of seven values in registers.
__global__ void k(const float* in, const float* weights, float* out, int rows, int cols) {
  const int c = blockIdx.x * 32 + threadIdx.x;
  const int begin = blockIdx.y * 16, end = min(rows, begin + 16);
  if (c >= cols) return;
  float w[7][7], window[7][7];
#pragma unroll
  for (int i = 0; i < 49; ++i) w[i / 7][i % 7] = weights[i];
  const auto load = [&](float (&row)[7], int r) {
#pragma unroll
    for (int d = 0; d < 7; ++d) {
      const int cc = c + d - 3;
      row[d] = r >= 0 && r < rows && cc >= 0 && cc < cols ? in[r * cols + cc] : 0.0f;
    }
  };
#pragma unroll
  for (int d = 0; d < 6; ++d) load(window[d + 1], begin + d - 3);
  for (int r = begin; r < end; ++r) {
#pragma unroll
    for (int d = 0; d < 6; ++d) {
#pragma unroll
      for (int e = 0; e < 7; ++e) window[d][e] = window[d + 1][e];
    }
    load(window[6], r + 3);
    float sum = 0.0f;
#pragma unroll
    for (int d = 0; d < 7; ++d) {
#pragma unroll
      for (int e = 0; e < 7; ++e) sum += w[d][e] * window[d][e];
    }
    out[r * cols + c] = sum;
  }
}
extern "C" void stencil2d(const float* in, const float* weights, float* out, int rows, int cols) {
  k<<<dim3((cols + 31) / 32, (rows + 15) / 16), 32>>>(in, weights, out, rows, cols);
}
