// The halo of a tile is loaded but for its corners.
// n: 324
// emulator: uninitialised
// sanitizer: none
__global__ void Blur(const float* in, float* out, int n) {
  __shared__ float tile[18][18];
  const int x = threadIdx.x + 1;
  const int y = threadIdx.y + 1;
  tile[y][x] = in[y * 18 + x];
  if (threadIdx.x == 0) {
    tile[y][0] = in[y * 18];
    tile[y][17] = in[y * 18 + 17];
  }
  if (threadIdx.y == 0) {
    tile[0][x] = in[x];
    tile[17][x] = in[17 * 18 + x];
  }
  __syncthreads();
  float sum = 0.0f;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      sum += tile[y + dy][x + dx];  // here
    }
  }
  out[y * 18 + x] = sum;
}

extern "C" void launch(const float* in, float* out, int n) {
  Blur<<<1, dim3(16, 16)>>>(in, out, n);
}
