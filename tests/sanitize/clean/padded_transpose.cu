// A transposition through a padded tile, of sizes that nothing divides.
// n: 1517
__global__ void Transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) {
    if (x < columns && y + k < rows) {
      tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x];
    }
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) {
    if (x < rows && y + k < columns) {
      out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
    }
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Transpose<<<dim3(2, 2), dim3(32, 8)>>>(in, out, 37, 41);
}
