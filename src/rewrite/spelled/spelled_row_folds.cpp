// Folds of rows, by a thread each.

#include <algorithm>
#include <cmath>

#include "rewrite/spelled/spelled_kernels.h"

namespace optiml::rewrite::testing {
namespace {

using Role = SpelledArgument::Role;
using Values = std::vector<std::vector<double>>;

constexpr SpellingText kSoftmax[] = {
    {"early_return",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = -INFINITY;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[r * cols + c]);
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += expf(x[r * cols + c] - m);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c] - m) / s;
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"row_pointers",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    const float* in = x + r * cols;
    float* out = y + r * cols;
    float m = in[0];
    for (int c = 1; c < cols; ++c)
      if (in[c] > m) m = in[c];
    float s = 0;
    for (int c = 0; c < cols; ++c) s = s + expf(in[c] - m);
    for (int c = 0; c < cols; ++c) out[c] = expf(in[c] - m) / s;
  }
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"reciprocal",
     R"(
__global__ void k(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  const int r = threadIdx.x + blockIdx.x * blockDim.x;
  if (!(r < rows)) return;
  float m = -1e30f;
  for (int c = 0; c < cols; c++) m = max(m, x[r * cols + c]);
  float s = 0.f;
  for (int c = 0; c < cols; c++) s = s + expf(x[r * cols + c] - m);
  const float inv = 1.0f / s;
  for (int c = 0; c < cols; c++) y[r * cols + c] = expf(x[r * cols + c] - m) * inv;
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"macros",
     R"(
#define X(c) x[r * cols + (c)]
#define MAXIMUM(a, b) ((a) > (b) ? (a) : (b))
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = X(0);
  for (int c = 1; c < cols; ++c) m = MAXIMUM(m, X(c));
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += expf(X(c) - m);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(X(c) - m) / s;
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"grid_stride",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
    float m = -INFINITY;
    for (int c = 0; c < cols; ++c) m = fmaxf(m, x[r * cols + c]);
    float s = 0.0f;
    for (int c = 0; c < cols; ++c) s += expf(x[r * cols + c] - m);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c] - m) / s;
  }
}
)",
     "k<<<2, 64>>>(x, y, rows, cols);"},
    {"template",
     R"(
template <typename T>
__global__ void k(const T* x, T* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  T m = -INFINITY;
  for (int c = 0; c < cols; ++c) m = max(m, x[r * cols + c]);
  T s = 0;
  for (int c = 0; c < cols; ++c) s += exp(x[r * cols + c] - m);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = exp(x[r * cols + c] - m) / s;
}
)",
     "k<float><<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"while_loops",
     R"(
__device__ float shifted(const float* row, int c, float m) { return expf(row[c] - m); }
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = &x[r * cols];
  float m = -INFINITY, s = 0.0f;
  int c = 0;
  while (c < cols) {
    m = fmaxf(row[c], m);
    ++c;
  }
  c = 0;
  while (c < cols) {
    s = shifted(row, c, m) + s;
    ++c;
  }
  for (c = 0; c < cols; ++c) y[r * cols + c] = shifted(row, c, m) / s;
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"thread_an_element",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  float m = -INFINITY;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[row * cols + c]);
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += expf(x[row * cols + c] - m);
  y[row * cols + col] = expf(x[row * cols + col] - m) / s;
}
)",
     "k<<<dim3((cols + 31) / 32, (rows + 3) / 4), dim3(32, 4)>>>(x, y, rows, cols);"},
};

// y = (x - mean) / sqrt(variance + 1e-5)
constexpr SpellingText kNormalise[] = {
    {"early_return",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  float mean = s / cols;
  float v = 0.0f;
  for (int c = 0; c < cols; ++c) {
    float d = x[r * cols + c] - mean;
    v += d * d;
  }
  float inv = rsqrtf(v / cols + 1e-5f);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = (x[r * cols + c] - mean) * inv;
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"row_pointers",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    const float* in = x + r * cols;
    float* out = y + r * cols;
    float s = 0;
    for (int c = 0; c < cols; ++c) s = s + in[c];
    float mean = s / (float)cols;
    float v = 0;
    for (int c = 0; c < cols; ++c) v = v + (in[c] - mean) * (in[c] - mean);
    v = v / cols;
    float inv = 1.0f / sqrtf(v + 1e-5f);
    for (int c = 0; c < cols; ++c) out[c] = (in[c] - mean) * inv;
  }
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"macros",
     R"(
#define X(c) x[r * cols + (c)]
#define SQUARE(a) ((a) * (a))
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float mean = 0;
  for (int c = 0; c < cols; ++c) mean += X(c);
  mean /= cols;
  float v = 0;
  for (int c = 0; c < cols; ++c) v += SQUARE(X(c) - mean);
  v /= cols;
  for (int c = 0; c < cols; ++c) y[r * cols + c] = (X(c) - mean) * rsqrtf(v + 1e-5f);
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"grid_stride",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
    float s = 0.0f;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    float mean = s / cols;
    float v = 0.0f;
    for (int c = 0; c < cols; ++c) {
      float d = x[r * cols + c] - mean;
      v += d * d;
    }
    float inv = rsqrtf(v / cols + 1e-5f);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = (x[r * cols + c] - mean) * inv;
  }
}
)",
     "k<<<2, 64>>>(x, y, rows, cols);"},
    {"template",
     R"(
template <typename T>
__global__ void k(const T* x, T* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  T s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  T mean = s / cols;
  T v = 0;
  for (int c = 0; c < cols; ++c) {
    T d = x[r * cols + c] - mean;
    v += d * d;
  }
  T inv = rsqrtf(v / cols + T(1e-5));
  for (int c = 0; c < cols; ++c) y[r * cols + c] = (x[r * cols + c] - mean) * inv;
}
)",
     "k<float><<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"helper",
     R"(
static __device__ inline float squared(float v) { return v * v; }
__global__ void k(const float* x, float* y, int rows, int cols) {
  const unsigned int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0.0f;
  for (int c = 0; c < cols; c++) s = x[r * cols + c] + s;
  const float mean = s / cols;
  float v = 0.0f;
  for (int c = 0; c < cols; c++) v = squared(x[r * cols + c] - mean) + v;
  const float deviation = sqrtf(v / cols + 1e-5f);
  for (int c = 0; c < cols; c++) y[r * cols + c] = (x[r * cols + c] - mean) / deviation;
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"while_loops",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float s = 0.0f, v = 0.0f;
    int c = 0;
    while (c < cols) s += x[r * cols + c++];
    const float mean = s / cols;
    c = 0;
    while (c < cols) {
      const float d = x[r * cols + c] - mean;
      v += d * d;
      c += 1;
    }
    const float inv = rsqrtf(v / cols + 1e-5f);
    for (c = 0; c < cols; ++c) y[r * cols + c] = (x[r * cols + c] - mean) * inv;
  }
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
};

std::vector<double> SoftmaxOf(const Sizes& sizes, const Values& arguments) {
  std::vector<double> y = arguments[0];
  const int64_t cols = sizes.at("cols");
  for (auto row = y.begin(); row != y.end(); row += cols) {
    const double top = *std::max_element(row, row + cols);
    double sum = 0;
    std::for_each(row, row + cols, [&](double& value) { sum += value = std::exp(value - top); });
    std::for_each(row, row + cols, [&](double& value) { value /= sum; });
  }
  return y;
}

std::vector<double> NormalisedOf(const Sizes& sizes, const Values& arguments) {
  std::vector<double> y = arguments[0];
  const int64_t cols = sizes.at("cols");
  for (auto row = y.begin(); row != y.end(); row += cols) {
    double sum = 0;
    std::for_each(row, row + cols, [&](double value) { sum += value; });
    const double mean = sum / static_cast<double>(cols);
    double squares = 0;
    std::for_each(row, row + cols,
                  [&](double value) { squares += (value - mean) * (value - mean); });
    const double deviation = std::sqrt(squares / static_cast<double>(cols) + 1e-5);
    std::for_each(row, row + cols, [&](double& value) { value = (value - mean) / deviation; });
  }
  return y;
}

SpelledShape Softmax() {
  SpelledShape shape = MatrixShape("softmax", {"rows", "cols"});
  // Rows of 1024 fill the registers that keep them, longer ones do not fit.
  shape.checked = {{{"rows", 3}, {"cols", 1}},
                   {{"rows", 5}, {"cols", 77}},
                   {{"rows", 4}, {"cols", 1024}},
                   {{"rows", 2}, {"cols", 1100}}};
  shape.tolerance = 4e-6;
  shape.reference = SoftmaxOf;
  shape.spellings = WithLaunchers(kMatrixParameters, kSoftmax);
  return shape;
}

SpelledShape Normalise() {
  SpelledShape shape = MatrixShape("normalise", {"rows", "cols"});
  shape.checked = {{{"rows", 3}, {"cols", 7}},
                   {{"rows", 5}, {"cols", 77}},
                   {{"rows", 4}, {"cols", 1024}},
                   {{"rows", 2}, {"cols", 1100}}};
  shape.tolerance = 2e-5;
  shape.reference = NormalisedOf;
  shape.spellings = WithLaunchers(kMatrixParameters, kNormalise);
  return shape;
}

}  // namespace

std::vector<SpelledShape> SpelledRowFolds() {
  return {Softmax(), Normalise()};
}

}  // namespace optiml::rewrite::testing
