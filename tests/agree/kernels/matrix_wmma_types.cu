// n: 8192
// nvcuda::wmma with bf16, tf32, s8, u8 and f64 and the oblong shapes, from global memory.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void Fill(const unsigned* in, __nv_bfloat16* bf, float* tf, signed char* s8, double* f64) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = static_cast<int>(in[i] % 511) - 255;
  bf[i] = __float2bfloat16(value * 0.0371f);
  tf[i] = wmma::__float_to_tf32(value * 1.0473f);
  s8[i] = static_cast<signed char>(in[i] >> 5);
  f64[i] = value * 0.3;
}

__global__ void Products(const __nv_bfloat16* bf, const float* tf, const signed char* s8, const double* f64,
                         unsigned* out) {
  {
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> c;
    wmma::fill_fragment(c, 0.25f);
    wmma::load_matrix_sync(a, bf, 16);
    wmma::load_matrix_sync(b, bf + 512, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(reinterpret_cast<float*>(out), c, 8, wmma::mem_row_major);
  }
  {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::col_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < 4; ++k) {
      wmma::load_matrix_sync(a, tf + k * 128, 16);
      wmma::load_matrix_sync(b, tf + 512 + k * 128, 16);
      wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(reinterpret_cast<float*>(out) + 256, c, 16, wmma::mem_col_major);
  }
  {
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> c;
    wmma::fill_fragment(c, -7);
    wmma::load_matrix_sync(a, s8, 16);
    wmma::load_matrix_sync(b, s8 + 128, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(reinterpret_cast<int*>(out) + 512, c, 32, wmma::mem_row_major);
  }
  {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, unsigned char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;
    wmma::fill_fragment(c, 1);
    wmma::load_matrix_sync(a, reinterpret_cast<const unsigned char*>(s8), 16);
    wmma::load_matrix_sync(b, reinterpret_cast<const unsigned char*>(s8) + 256, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(reinterpret_cast<int*>(out) + 768, c, 16, wmma::mem_row_major);
  }
  {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> c;
    wmma::fill_fragment(c, 0.1);
    for (int k = 0; k < 8; ++k) {
      wmma::load_matrix_sync(a, f64 + 32 * k, 4);
      wmma::load_matrix_sync(b, f64 + 256 + 32 * k, 4);
      wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(reinterpret_cast<double*>(out + 1024), c, 8, wmma::mem_row_major);
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  __nv_bfloat16* bf = nullptr;
  float* tf = nullptr;
  signed char* s8 = nullptr;
  double* f64 = nullptr;
  cudaMalloc(&bf, 1024 * sizeof(__nv_bfloat16));
  cudaMalloc(&tf, 1024 * sizeof(float));
  cudaMalloc(&s8, 1024);
  cudaMalloc(&f64, 1024 * sizeof(double));
  cudaMemset(out, 0, n * sizeof(unsigned));
  Fill<<<4, 256>>>(in, bf, tf, s8, f64);
  Products<<<1, 32>>>(bf, tf, s8, f64, out);
  cudaFree(bf);
  cudaFree(tf);
  cudaFree(s8);
  cudaFree(f64);
}
