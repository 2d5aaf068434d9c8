// n: 16384
// A 64 x 64 x 64 product of halves with nvcuda::wmma through shared memory, f32 and f16 results, both
// layouts of B.
#include <cuda_fp16.h>
#include <mma.h>

__device__ half Small(unsigned word) {
  return __int2half_rn(static_cast<int>(word % 33) - 16) * __float2half(0.0625f);
}

__global__ void Product(const unsigned* in, unsigned* out) {
  using namespace nvcuda;
  constexpr int kSize = 64;
  __shared__ half a[kSize][kSize + 8];
  __shared__ half b[kSize][kSize + 8];
  __shared__ half h[kSize][kSize + 8];
  for (int i = threadIdx.x; i < kSize * kSize; i += blockDim.x) {
    a[i / kSize][i % kSize] = Small(in[i]);
    b[i / kSize][i % kSize] = Small(in[kSize * kSize + i]) * __float2half(1.125f);
  }
  __syncthreads();
  const int warp = threadIdx.x / 32;
  const int row = warp / 2 * 16;
  for (int column = warp % 2 * 32; column < warp % 2 * 32 + 32; column += 16) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> half_sum;
    wmma::fill_fragment(sum, 0.5f);
    wmma::fill_fragment(half_sum, __float2half(-1.0f));
    for (int k = 0; k < kSize; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fc;
      wmma::load_matrix_sync(fa, &a[row][k], kSize + 8);
      wmma::load_matrix_sync(fb, &b[k][column], kSize + 8);
      wmma::load_matrix_sync(fc, &b[column][k], kSize + 8);
      wmma::mma_sync(sum, fa, fb, sum);
      wmma::mma_sync(half_sum, fa, fc, half_sum);
    }
    for (int i = 0; i < sum.num_elements; ++i) {
      sum.x[i] *= 3.0f;
    }
    wmma::store_matrix_sync(reinterpret_cast<float*>(out) + row * kSize + column, sum, kSize, wmma::mem_row_major);
    wmma::store_matrix_sync(&h[column][row], half_sum, kSize + 8, wmma::mem_col_major);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kSize * kSize / 2; i += blockDim.x) {
    out[kSize * kSize + i] = *reinterpret_cast<const unsigned*>(&h[2 * i / kSize][2 * i % kSize]);
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  Product<<<1, 256>>>(in, out);
}
