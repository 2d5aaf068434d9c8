// out[r][c] = sum over dr, dc in -3 .. 3 of weights[dr + 3][dc + 3] * in[r + dr][c + dc], where in is
// zero outside of the image: one thread per output.

#define RADIUS 3

__global__ void stencil2d_kernel(const float* in, const float* weights, float* out, int rows,
                                 int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    float sum = 0.0f;
    for (int dr = -RADIUS; dr <= RADIUS; ++dr) {
      for (int dc = -RADIUS; dc <= RADIUS; ++dc) {
        if (r + dr >= 0 && r + dr < rows && c + dc >= 0 && c + dc < cols) {
          sum += weights[(dr + RADIUS) * (2 * RADIUS + 1) + dc + RADIUS] *
                 in[(r + dr) * cols + c + dc];
        }
      }
    }
    out[r * cols + c] = sum;
  }
}

extern "C" void stencil2d(const float* in, const float* weights, float* out, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  stencil2d_kernel<<<grid, block>>>(in, weights, out, rows, cols);
}
