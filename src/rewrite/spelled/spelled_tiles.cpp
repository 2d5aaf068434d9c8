// What pays in tiles: a contraction, a transposition and a stencil.

#include "rewrite/spelled/spelled_kernels.h"

namespace optiml::rewrite::testing {
namespace {

using Role = SpelledArgument::Role;
using Values = std::vector<std::vector<double>>;

// C = A B
constexpr SpellingText kMatMul[] = {
    {"early_return",
     R"(
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= M || c >= N) return;
  float s = 0.0f;
  for (int p = 0; p < K; ++p) s += A[r * K + p] * B[p * N + c];
  C[r * N + c] = s;
}
)",
     "k<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);"},
    {"row_pointers",
     R"(
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < M && c < N) {
    const float* a = A + r * K;
    const float* b = B + c;
    float s = 0;
    for (int p = 0; p < K; ++p) {
      s = s + *a++ * *b;
      b += N;
    }
    C[r * N + c] = s;
  }
}
)",
     "k<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);"},
    {"macros",
     R"(
#define AT(p, r, c, width) p[(r) * (width) + (c)]
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < M && c < N) {
    float s = 0;
    for (int p = 0; p < K; ++p) s += AT(A, r, p, K) * AT(B, p, c, N);
    AT(C, r, c, N) = s;
  }
}
)",
     "k<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);"},
    {"grid_stride",
     R"(
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < M; r += gridDim.y * blockDim.y)
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < N; c += gridDim.x * blockDim.x) {
      float s = 0;
      for (int p = 0; p < K; ++p) s += A[r * K + p] * B[p * N + c];
      C[r * N + c] = s;
    }
}
)",
     "k<<<dim3(2, 2), dim3(16, 16)>>>(A, B, C, M, N, K);"},
    {"template",
     R"(
template <typename T, int kSide>
__global__ void k(const T* A, const T* B, T* C, int M, int N, int K) {
  int c = blockIdx.x * kSide + threadIdx.x;
  int r = blockIdx.y * kSide + threadIdx.y;
  if (r < M && c < N) {
    T s = 0;
    for (int p = 0; p < K; ++p) s += A[r * K + p] * B[p * N + c];
    C[r * N + c] = s;
  }
}
)",
     "k<float, 16><<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);"},
    {"one_index",
     R"(
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  int r = i / N, c = i % N;
  float s = 0;
  for (int p = 0; p < K; ++p) s += A[r * K + p] * B[p * N + c];
  C[i] = s;
}
)",
     "k<<<(M * N + 255) / 256, 256>>>(A, B, C, M, N, K);"},
    {"helper",
     R"(
static __device__ __forceinline__ float dot(const float* a, const float* b, int n, int step) {
  float s = 0.0f;
  for (int i = 0; i < n; i++) s = fmaf(a[i], b[i * step], s);
  return s;
}
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < M && c < N) C[r * N + c] = dot(A + r * K, B + c, K, N);
}
)",
     "k<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);"},
    {"while_loop",
     R"(
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= M) return;
  if (c >= N) return;
  float s = 0.0f;
  int p = 0;
  while (p < K) {
    s = s + A[r * K + p] * B[p * N + c];
    p++;
  }
  C[r * N + c] = s;
}
)",
     "k<<<dim3((M + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);"},
};

constexpr SpellingText kTranspose[] = {
    {"early_return",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  y[c * rows + r] = x[r * cols + c];
}
)",
     "k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, cols);"},
    {"row_pointers",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    const float* in = x + (size_t)r * cols;
    float* out = y + (size_t)c * rows;
    out[r] = in[c];
  }
}
)",
     "k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, cols);"},
    {"macros",
     R"(
#define AT(r, c, width) ((r) * (width) + (c))
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) y[AT(c, r, rows)] = x[AT(r, c, cols)];
}
)",
     "k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, cols);"},
    {"grid_stride",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < rows; r += gridDim.y * blockDim.y)
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < cols; c += gridDim.x * blockDim.x)
      y[c * rows + r] = x[r * cols + c];
}
)",
     "k<<<dim3(2, 2), dim3(16, 16)>>>(x, y, rows, cols);"},
    {"template",
     R"(
template <typename T, int kSide>
__global__ void k(const T* x, T* y, int rows, int cols) {
  int c = blockIdx.x * kSide + threadIdx.x;
  int r = blockIdx.y * kSide + threadIdx.y;
  if (r < rows && c < cols) y[c * rows + r] = x[r * cols + c];
}
)",
     "k<float, 16><<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, "
     "cols);"},
    {"one_index",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  y[(i % cols) * rows + i / cols] = x[i];
}
)",
     "k<<<(rows * cols + 255) / 256, 256>>>(x, y, rows, cols);"},
    {"thread_a_row",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  for (int c = 0; c < cols; ++c) y[c * rows + r] = x[r * cols + c];
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"helpers",
     R"(
__device__ float get(const float* x, int r, int c, int cols) { return x[r * cols + c]; }
__device__ void put(float* y, int r, int c, int cols, float v) { y[r * cols + c] = v; }
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) put(y, c, r, rows, get(x, r, c, cols));
}
)",
     "k<<<dim3((rows + 15) / 16, (cols + 15) / 16), dim3(16, 16)>>>(x, y, rows, cols);"},
};

// The mean of five points; the border is copied.
constexpr SpellingText kBlur[] = {
    {"early_return",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  if (r == 0 || c == 0 || r == rows - 1 || c == cols - 1) {
    y[r * cols + c] = x[r * cols + c];
    return;
  }
  y[r * cols + c] = 0.2f * (x[r * cols + c] + x[r * cols + c - 1] + x[r * cols + c + 1] +
                            x[(r - 1) * cols + c] + x[(r + 1) * cols + c]);
}
)",
     "k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, cols);"},
    {"guards",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    if (r > 0 && c > 0 && r < rows - 1 && c < cols - 1) {
      float s = x[r * cols + c];
      s = s + x[r * cols + c - 1];
      s = s + x[r * cols + c + 1];
      s = s + x[(r - 1) * cols + c];
      s = s + x[(r + 1) * cols + c];
      y[r * cols + c] = s * 0.2f;
    } else {
      y[r * cols + c] = x[r * cols + c];
    }
  }
}
)",
     "k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, cols);"},
    {"row_pointers",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  const float* row = x + r * cols;
  float* out = y + r * cols;
  if (r == 0 || c == 0 || r == rows - 1 || c == cols - 1) {
    out[c] = row[c];
  } else {
    const float* above = row - cols;
    const float* below = row + cols;
    out[c] = 0.2f * (row[c] + row[c - 1] + row[c + 1] + above[c] + below[c]);
  }
}
)",
     "k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, cols);"},
    {"macros",
     R"(
#define X(r, c) x[(r) * cols + (c)]
#define BORDER(r, c) ((r) == 0 || (c) == 0 || (r) == rows - 1 || (c) == cols - 1)
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    y[r * cols + c] = BORDER(r, c) ? X(r, c)
                                   : 0.2f * (X(r, c) + X(r, c - 1) + X(r, c + 1) + X(r - 1, c) +
                                             X(r + 1, c));
  }
}
)",
     "k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, cols);"},
    {"grid_stride",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < rows; r += gridDim.y * blockDim.y)
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < cols; c += gridDim.x * blockDim.x) {
      const int i = r * cols + c;
      if (r == 0 || c == 0 || r == rows - 1 || c == cols - 1)
        y[i] = x[i];
      else
        y[i] = 0.2f * (x[i] + x[i - 1] + x[i + 1] + x[i - cols] + x[i + cols]);
    }
}
)",
     "k<<<dim3(2, 2), dim3(16, 16)>>>(x, y, rows, cols);"},
    {"template",
     R"(
template <typename T, int kSide>
__global__ void k(const T* x, T* y, int rows, int cols) {
  int c = blockIdx.x * kSide + threadIdx.x;
  int r = blockIdx.y * kSide + threadIdx.y;
  if (r >= rows || c >= cols) return;
  if (r == 0 || c == 0 || r == rows - 1 || c == cols - 1) {
    y[r * cols + c] = x[r * cols + c];
  } else {
    y[r * cols + c] = T(0.2f) * (x[r * cols + c] + x[r * cols + c - 1] + x[r * cols + c + 1] +
                                 x[(r - 1) * cols + c] + x[(r + 1) * cols + c]);
  }
}
)",
     "k<float, 16><<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, "
     "cols);"},
    {"helpers",
     R"(
__device__ float at(const float* x, int r, int c, int cols) { return x[r * cols + c]; }
__device__ bool border(int i, int n) { return i == 0 || i == n - 1; }
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float v = at(x, r, c, cols);
  if (!border(r, rows) && !border(c, cols)) {
    v = 0.2f * (v + at(x, r, c - 1, cols) + at(x, r, c + 1, cols) + at(x, r - 1, c, cols) +
                at(x, r + 1, c, cols));
  }
  y[r * cols + c] = v;
}
)",
     "k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, rows, cols);"},
    {"one_index",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  int r = i / cols;
  int c = i % cols;
  if (r == 0 || c == 0 || r == rows - 1 || c == cols - 1) {
    y[i] = x[i];
  } else {
    y[i] = 0.2f * (x[i] + x[i - 1] + x[i + 1] + x[i - cols] + x[i + cols]);
  }
}
)",
     "k<<<(rows * cols + 255) / 256, 256>>>(x, y, rows, cols);"},
};

std::vector<double> ProductOf(const Sizes& sizes, const Values& arguments) {
  const auto m = static_cast<size_t>(sizes.at("m"));
  const auto n = static_cast<size_t>(sizes.at("n"));
  const auto k = static_cast<size_t>(sizes.at("k"));
  std::vector<double> c(m * n);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      for (size_t p = 0; p < k; ++p) {
        c[i * n + j] += arguments[0][i * k + p] * arguments[1][p * n + j];
      }
    }
  }
  return c;
}

std::vector<double> TransposedOf(const Sizes& sizes, const Values& arguments) {
  const auto rows = static_cast<size_t>(sizes.at("rows"));
  const auto cols = static_cast<size_t>(sizes.at("cols"));
  std::vector<double> y(rows * cols);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i % cols * rows + i / cols] = arguments[0][i];
  }
  return y;
}

std::vector<double> BlurredOf(const Sizes& sizes, const Values& arguments) {
  const auto rows = static_cast<size_t>(sizes.at("rows"));
  const auto cols = static_cast<size_t>(sizes.at("cols"));
  const std::vector<double>& x = arguments[0];
  std::vector<double> y = x;
  for (size_t r = 1; r + 1 < rows; ++r) {
    for (size_t c = 1; c + 1 < cols; ++c) {
      const size_t i = r * cols + c;
      y[i] = (x[i] + x[i - 1] + x[i + 1] + x[i - cols] + x[i + cols]) / 5;
    }
  }
  return y;
}

SpelledShape MatMul() {
  SpelledShape shape;
  shape.name = "matmul";
  shape.arguments = {
      {Role::kInput, DType::kF32, {"m", "k"}},  {Role::kInput, DType::kF32, {"k", "n"}},
      {Role::kOutput, DType::kF32, {"m", "n"}}, {Role::kSize, DType::kI32, {"m"}},
      {Role::kSize, DType::kI32, {"n"}},        {Role::kSize, DType::kI32, {"k"}}};
  shape.timed = {{"m", 512}, {"n", 512}, {"k", 512}};
  shape.checked = {{{"m", 3}, {"n", 5}, {"k", 1}},
                   {{"m", 35}, {"n", 17}, {"k", 45}},
                   {{"m", 64}, {"n", 32}, {"k", 64}}};
  shape.reference = ProductOf;
  shape.spellings =
      WithLaunchers("const float* A, const float* B, float* C, int M, int N, int K", kMatMul);
  return shape;
}

SpelledShape Transpose() {
  SpelledShape shape = MatrixShape("transpose", {"cols", "rows"});
  shape.checked = {
      {{"rows", 3}, {"cols", 5}}, {{"rows", 37}, {"cols", 65}}, {{"rows", 64}, {"cols", 128}}};
  shape.reference = TransposedOf;
  shape.spellings = WithLaunchers(kMatrixParameters, kTranspose);
  return shape;
}

SpelledShape Blur() {
  SpelledShape shape = MatrixShape("blur", {"rows", "cols"});
  shape.checked = {
      {{"rows", 1}, {"cols", 5}}, {{"rows", 37}, {"cols", 65}}, {{"rows", 64}, {"cols", 128}}};
  shape.tolerance = 1e-6;
  shape.reference = BlurredOf;
  shape.spellings = WithLaunchers(kMatrixParameters, kBlur);
  return shape;
}

}  // namespace

std::vector<SpelledShape> SpelledTiles() {
  return {MatMul(), Transpose(), Blur()};
}

}  // namespace optiml::rewrite::testing
