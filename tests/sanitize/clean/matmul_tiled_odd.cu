// A tiled product of matrices whose size nothing divides.
// n: 961
__global__ void Product(const float* a, float* c, int size) {
  __shared__ float left[16][16];
  __shared__ float right[16][17];
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < size; k += 16) {
    const int column = k + threadIdx.x;
    const int row = k + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = y < size && column < size ? a[y * size + column] : 0.0f;
    right[threadIdx.y][threadIdx.x] = x < size && row < size ? a[row * size + x] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    }
    __syncthreads();
  }
  if (x < size && y < size) {
    c[y * size + x] = sum;
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Product<<<dim3(2, 2), dim3(16, 16)>>>(in, out, 31);
}
