// task: stencil2d
#define R 3
#define T 16
__constant__ int unused_but_legal[4];
__global__ void k(const float* in, const float* weights, float* out, int rows, int cols) {
  __shared__ float tile[T + 2 * R][T + 2 * R];
  __shared__ float w[49];
  int t = threadIdx.y * T + threadIdx.x;
  if (t < 49) w[t] = weights[t];
  int r0 = blockIdx.y * T - R;
  int c0 = blockIdx.x * T - R;
  for (int i = t; i < (T + 2 * R) * (T + 2 * R); i += T * T) {
    int r = r0 + i / (T + 2 * R);
    int c = c0 + i % (T + 2 * R);
    bool inside = r >= 0 && r < rows && c >= 0 && c < cols;
    tile[i / (T + 2 * R)][i % (T + 2 * R)] = inside ? in[r * cols + c] : 0.0f;
  }
  __syncthreads();
  int r = blockIdx.y * T + threadIdx.y;
  int c = blockIdx.x * T + threadIdx.x;
  if (r >= rows || c >= cols) return;
  float sum = 0.0f;
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 7; ++j) sum += w[i * 7 + j] * tile[threadIdx.y + i][threadIdx.x + j];
  }
  out[r * cols + c] = sum;
}
extern "C" void stencil2d(const float* in, const float* weights, float* out, int rows, int cols) {
  k<<<dim3((cols + T - 1) / T, (rows + T - 1) / T), dim3(T, T)>>>(in, weights, out, rows, cols);
}
