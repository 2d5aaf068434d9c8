// out[r][c] = sum over dr, dc in -3 .. 3 of weights[dr + 3][dc + 3] * in[r + dr][c + dc], where in is
// zero outside of the image: a tile in shared memory, eight outputs of a column a thread.

#define RADIUS 3
#define SPAN 7
#define ITEMS 8
#define WIDTH 32
#define TALL 4

__global__ void __launch_bounds__(128) stencil2d_kernel(const float* in, const float* weights,
                                                        float* out, int rows, int cols) {
  __shared__ float tile[TALL * ITEMS + 2 * RADIUS][WIDTH + 2 * RADIUS];
  __shared__ float w[SPAN * SPAN];
  int c0 = blockIdx.x * WIDTH;
  int r0 = blockIdx.y * (TALL * ITEMS);
  int lane = threadIdx.y * WIDTH + threadIdx.x;
  if (lane < SPAN * SPAN) {
    w[lane] = weights[lane];
  }
  for (int tr = threadIdx.y; tr < TALL * ITEMS + 2 * RADIUS; tr += TALL) {
    int r = r0 + tr - RADIUS;
    for (int tc = threadIdx.x; tc < WIDTH + 2 * RADIUS; tc += WIDTH) {
      int c = c0 + tc - RADIUS;
      bool inside = r >= 0 && r < rows && c >= 0 && c < cols;
      tile[tr][tc] = inside ? in[r * cols + c] : 0.0f;
    }
  }
  __syncthreads();
  float sum[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    sum[k] = 0.0f;
  }
#pragma unroll
  for (int dc = 0; dc < SPAN; ++dc) {
    float column[ITEMS + 2 * RADIUS];
#pragma unroll
    for (int k = 0; k < ITEMS + 2 * RADIUS; ++k) {
      column[k] = tile[threadIdx.y * ITEMS + k][threadIdx.x + dc];
    }
#pragma unroll
    for (int dr = 0; dr < SPAN; ++dr) {
      float weight = w[dr * SPAN + dc];
#pragma unroll
      for (int k = 0; k < ITEMS; ++k) {
        sum[k] += weight * column[k + dr];
      }
    }
  }
  int c = c0 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int r = r0 + threadIdx.y * ITEMS + k;
    if (r < rows && c < cols) {
      out[r * cols + c] = sum[k];
    }
  }
}

extern "C" void stencil2d(const float* in, const float* weights, float* out, int rows, int cols) {
  dim3 block(WIDTH, TALL);
  dim3 grid((cols + WIDTH - 1) / WIDTH, (rows + TALL * ITEMS - 1) / (TALL * ITEMS));
  stencil2d_kernel<<<grid, block>>>(in, weights, out, rows, cols);
}
