#ifndef OPTIML_REWRITE_CATALOGUE_TEST_KERNELS_H_
#define OPTIML_REWRITE_CATALOGUE_TEST_KERNELS_H_

// Naive kernels of many shapes and spellings, for the tests of the catalogue.

#include <vector>

#include "rewrite/catalogue_test_support.h"

namespace optiml::rewrite::testing {

inline KernelCase Relu() {
  return {"relu",
          R"(
__global__ void relu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  relu_kernel<<<(n + 255) / 256, 256>>>(x, y, n);
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Integer(1 << 20)}};
}

// Rows that a broadcast keeps apart.
inline KernelCase BiasGelu() {
  return {"bias_gelu",
          R"(
__device__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }
__global__ void bias_gelu_kernel(const float* x, const float* bias, float* y, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) y[row * cols + col] = gelu(x[row * cols + col] + bias[col]);
}
extern "C" void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + 15) / 16, (rows + 15) / 16);
  bias_gelu_kernel<<<grid, block>>>(x, bias, y, rows, cols);
}
)",
          {Bytes(4 << 20), Bytes(4096), Bytes(4 << 20), Integer(1024), Integer(1024)}};
}

// Two dims over contiguous memory, 64-bit indices, in place.
inline KernelCase ScaleInPlace() {
  return {"scale",
          R"(
__global__ void scale_kernel(float* x, float factor, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y;
  if (r < rows && c < cols) x[(size_t)r * cols + c] *= factor;
}
extern "C" void scale(float* x, float factor, int rows, int cols) {
  dim3 grid((cols + 127) / 128, rows);
  scale_kernel<<<grid, 128>>>(x, factor, rows, cols);
}
)",
          {Bytes(4 << 20), Fraction(0.5), Integer(1024), Integer(1024)}};
}

// One thread per row: neighbours are a row apart.
inline KernelCase RowMap() {
  return {"row_map",
          R"(
__global__ void row_map_kernel(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    for (int c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] + 1.0f;
  }
}
extern "C" void row_map(const float* x, float* y, int rows, int cols) {
  row_map_kernel<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Integer(1024), Integer(1024)}};
}

inline KernelCase Softmax() {
  return {"softmax",
          R"(
__global__ void softmax_kernel(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* in = x + row * cols;
  float* out = y + row * cols;
  float m = in[0];
  for (int c = 1; c < cols; c++) m = fmaxf(m, in[c]);
  float s = 0.0f;
  for (int c = 0; c < cols; c++) s += expf(in[c] - m);
  for (int c = 0; c < cols; c++) out[c] = expf(in[c] - m) / s;
}
extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  softmax_kernel<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Integer(1024), Integer(1024)}};
}

// Every element's thread folds the whole row again.
inline KernelCase SoftmaxByElement() {
  return {"softmax2",
          R"(
__global__ void softmax2_kernel(const float* x, float* y, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  float top = -INFINITY;
  for (int k = 0; k < cols; ++k) {
    float v = x[row * cols + k];
    if (v > top) top = v;
  }
  float total = 0.0f;
  for (int k = 0; k < cols; ++k) total = total + expf(x[row * cols + k] - top);
  y[row * cols + col] = expf(x[row * cols + col] - top) / total;
}
#include <math.h>
extern "C" void softmax2(const float* x, float* y, int rows, int cols) {
  dim3 block(32, 8);
  dim3 grid((cols + 31) / 32, (rows + 7) / 8);
  softmax2_kernel<<<grid, block>>>(x, y, rows, cols);
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Integer(1024), Integer(1024)}};
}

inline KernelCase LayerNorm() {
  return {"layer_norm",
          R"(
__global__ void layer_norm_kernel(const float* x, const float* g, const float* b, float* y, int rows,
                                  int cols, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += x[r * cols + c];
    float mean = sum / cols;
    float squares = 0.0f;
    for (int c = 0; c < cols; ++c) {
      float d = x[r * cols + c] - mean;
      squares += d * d;
    }
    float inv = rsqrtf(squares / cols + eps);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = (x[r * cols + c] - mean) * inv * g[c] + b[c];
  }
}
extern "C" void layer_norm(const float* x, const float* g, const float* b, float* y, int rows,
                           int cols, float eps) {
  layer_norm_kernel<<<(rows + 127) / 128, 128>>>(x, g, b, y, rows, cols, eps);
}
)",
          {Bytes(4 << 20), Bytes(4096), Bytes(4096), Bytes(4 << 20), Integer(1024), Integer(1024),
           Fraction(1e-5)}};
}

inline KernelCase Gemv() {
  return {"gemv",
          R"(
__global__ void gemv_kernel(const float* a, const float* x, const float* bias, float* y, int m, int n,
                            float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  float acc = beta * bias[i];
  for (int j = 0; j < n; ++j) acc += a[i * n + j] * x[j];
  y[i] = acc;
}
extern "C" void gemv(const float* a, const float* x, const float* bias, float* y, int m, int n,
                     float beta) {
  gemv_kernel<<<(m + 63) / 64, 64>>>(a, x, bias, y, m, n, beta);
}
)",
          {Bytes(4 << 20), Bytes(4096), Bytes(4096), Bytes(4096), Integer(1024), Integer(1024),
           Fraction(1)}};
}

inline KernelCase ColumnSum() {
  return {"column_sum",
          R"(
__global__ void column_sum_kernel(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float s = 0.0f;
  for (int r = 0; r < rows; ++r) s += x[r * cols + c];
  y[c] = s;
}
extern "C" void column_sum(const float* x, float* y, int rows, int cols) {
  column_sum_kernel<<<(cols + 255) / 256, 256>>>(x, y, rows, cols);
}
)",
          {Bytes(4 << 20), Bytes(4096), Integer(1024), Integer(1024)}};
}

inline KernelCase Dot() {
  return {"dot",
          R"(
__global__ void dot_kernel(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, x[i] * y[i]);
}
extern "C" void dot(const float* x, const float* y, float* out, int n) {
  cudaMemset(out, 0, sizeof(float));
  dot_kernel<<<(n + 255) / 256, 256>>>(x, y, out, n);
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Bytes(4), Integer(1 << 20)}};
}

inline KernelCase Histogram() {
  return {"histogram",
          R"(
__global__ void histogram_kernel(const int* data, unsigned int* counts, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int bin = data[i];
  if (bin >= 0 && bin < bins) atomicAdd(&counts[bin], 1u);
}
extern "C" void histogram(const int* data, unsigned int* counts, int n, int bins) {
  cudaMemset(counts, 0, bins * sizeof(unsigned int));
  histogram_kernel<<<(n + 255) / 256, 256>>>(data, counts, n, bins);
}
)",
          {Bytes(4 << 20), Bytes(1024), Integer(1 << 20), Integer(256)}};
}

// The bin is no load but computed from a float that was loaded.
inline KernelCase FloatHistogram() {
  return {"float_histogram",
          R"(
__global__ void float_histogram_kernel(const float* data, int* counts, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float value = data[i];
    if (value >= 0.0f && value < bins) atomicAdd(&counts[(int)value], 1);
  }
}
extern "C" void float_histogram(const float* data, int* counts, int n, int bins) {
  cudaMemset(counts, 0, bins * sizeof(int));
  float_histogram_kernel<<<(n + 255) / 256, 256>>>(data, counts, n, bins);
}
)",
          {Bytes(4 << 20), Bytes(1024), Integer(1 << 20), Integer(256)}};
}

inline KernelCase MatMul() {
  return {"matmul",
          R"(
__global__ void matmul_kernel(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
  }
}
extern "C" void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 block(16, 16);
  dim3 grid((N + 15) / 16, (M + 15) / 16);
  matmul_kernel<<<grid, block>>>(A, B, C, M, N, K);
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Bytes(4 << 20), Integer(1024), Integer(1024),
           Integer(1024)}};
}

// C = alpha * A^T * B^T + beta * C, with a bias and a batch.
inline KernelCase BatchedTransposedMatMul() {
  return {"bmm",
          R"(
__global__ void bmm_kernel(const float* a, const float* b, float* c, int batch, int m, int n, int k,
                           float alpha, float beta) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int s = blockIdx.z;
  if (s < batch && i < m && j < n) {
    float acc = 0.0f;
    for (int p = 0; p < k; ++p) acc += a[s * m * k + p * m + i] * b[s * n * k + j * k + p];
    c[s * m * n + i * n + j] = alpha * acc + beta * c[s * m * n + i * n + j];
  }
}
extern "C" void bmm(const float* a, const float* b, float* c, int batch, int m, int n, int k,
                    float alpha, float beta) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (m + 15) / 16, batch);
  bmm_kernel<<<grid, block>>>(a, b, c, batch, m, n, k, alpha, beta);
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Bytes(4 << 20), Integer(4), Integer(512), Integer(512),
           Integer(512), Fraction(1), Fraction(0.5)}};
}

inline KernelCase Transpose() {
  return {"transpose",
          R"(
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) out[c * rows + r] = in[r * cols + c];
}
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + 15) / 16, (rows + 15) / 16);
  transpose_kernel<<<grid, block>>>(in, out, rows, cols);
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Integer(1024), Integer(1024)}};
}

// y = x + x^T
inline KernelCase AddTransposed() {
  return {"symmetrise",
          R"(
__global__ void symmetrise_kernel(const float* x, float* y, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) y[i * n + j] = 0.5f * (x[i * n + j] + x[j * n + i]);
}
extern "C" void symmetrise(const float* x, float* y, int n) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (n + 15) / 16);
  symmetrise_kernel<<<grid, block>>>(x, y, n);
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Integer(1024)}};
}

// Five points, the border copied.
inline KernelCase Jacobi() {
  return {"jacobi",
          R"(
__global__ void jacobi_kernel(const float* in, float* out, int h, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
    out[y * w + x] = in[y * w + x];
  } else {
    out[y * w + x] = 0.2f * (in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1] +
                             in[(y - 1) * w + x] + in[(y + 1) * w + x]);
  }
}
extern "C" void jacobi(const float* in, float* out, int h, int w) {
  dim3 block(16, 16);
  dim3 grid((w + 15) / 16, (h + 15) / 16);
  jacobi_kernel<<<grid, block>>>(in, out, h, w);
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Integer(1024), Integer(1024)}};
}

// A filter of constant size over an image that is zero outside.
inline KernelCase Convolution() {
  return {"convolution",
          R"(
__global__ void convolution_kernel(const float* in, const float* w, float* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float sum = 0.0f;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      if (r + i >= 0 && r + i < rows && c + j >= 0 && c + j < cols)
        sum += w[(i + 1) * 3 + j + 1] * in[(r + i) * cols + c + j];
  out[r * cols + c] = sum;
}
extern "C" void convolution(const float* in, const float* w, float* out, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + 15) / 16, (rows + 15) / 16);
  convolution_kernel<<<grid, block>>>(in, w, out, rows, cols);
}
)",
          {Bytes(4 << 20), Bytes(36), Bytes(4 << 20), Integer(1024), Integer(1024)}};
}

// Names of the source that the emitters use themselves, a stream, a block of functions with C
// linkage and a template.
inline KernelCase AwkwardNames() {
  return {"awkward",
          R"(
template <typename T>
__global__ void lane(const T* item, T* pack, int group) {
  int step = blockIdx.x * blockDim.x + threadIdx.x;
  if (step < group) {
    T load = item[step];
    pack[step] = load * load;
  }
}
extern "C" {
void awkward(const float* x, float* y, int n, cudaStream_t s) {
  lane<float><<<(n + 127) / 128, 128, 0, s>>>(x, y, n);
}
}
)",
          {Bytes(4 << 20), Bytes(4 << 20), Integer(1 << 20), Integer(0)}};
}

inline std::vector<KernelCase> AllKernels() {
  return {Relu(),         BiasGelu(),
          ScaleInPlace(), RowMap(),
          Softmax(),      SoftmaxByElement(),
          LayerNorm(),    Gemv(),
          ColumnSum(),    Dot(),
          Histogram(),    FloatHistogram(),
          MatMul(),       BatchedTransposedMatMul(),
          Transpose(),    AddTransposed(),
          Jacobi(),       Convolution(),
          AwkwardNames()};
}

}  // namespace optiml::rewrite::testing

#endif  // OPTIML_REWRITE_CATALOGUE_TEST_KERNELS_H_
