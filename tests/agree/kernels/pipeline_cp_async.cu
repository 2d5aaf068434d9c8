// n: 8192
// Three stages of cp.async (16 bytes a thread) under a product of small matrices.
#include <cuda_pipeline.h>

constexpr int kStages = 3;
constexpr int kTile = 16;

__global__ void Product(const float* a, const float* b, float* c, int size) {
  __shared__ alignas(16) float tile_a[kStages][kTile][kTile];
  __shared__ alignas(16) float tile_b[kStages][kTile][kTile];
  const int thread = threadIdx.y * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile;
  const int column = blockIdx.x * kTile;
  const int tiles = size / kTile;
  const auto fetch = [&](int tile) {
    if (tile < tiles && thread < 128) {
      const int r = (thread % 64) / 4;
      const int q = thread % 4 * 4;
      const int stage = tile % kStages;
      if (thread < 64) {
        __pipeline_memcpy_async(&tile_a[stage][r][q], &a[(row + r) * size + tile * kTile + q], 16);
      } else {
        __pipeline_memcpy_async(&tile_b[stage][r][q], &b[(tile * kTile + r) * size + column + q],
                                16);
      }
    }
    __pipeline_commit();
  };
  float sum = 0;
  for (int tile = 0; tile < kStages - 1; ++tile) {
    fetch(tile);
  }
  for (int tile = 0; tile < tiles; ++tile) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
    const int stage = tile % kStages;
    for (int k = 0; k < kTile; ++k) {
      sum += tile_a[stage][threadIdx.y][k] * tile_b[stage][k][threadIdx.x];
    }
    fetch(tile + kStages - 1);
  }
  c[(row + threadIdx.y) * size + column + threadIdx.x] = sum;
}

__global__ void ToFloat(const unsigned* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = static_cast<float>(static_cast<int>(in[i] % 1000) - 500) / 64.0f;
  }
}

// in: two 64 x 64 matrices; out: the operands' floats, then the first 4096 words are the product.
extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  float* values = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&values), n * sizeof(float));
  ToFloat<<<n / 256, 256>>>(in, values, n);
  cudaMemset(out, 0, n * sizeof(unsigned));
  Product<<<dim3(4, 4), dim3(kTile, kTile)>>>(values, values + 4096, reinterpret_cast<float*>(out),
                                              64);
  cudaFree(values);
}
