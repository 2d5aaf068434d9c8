// Folds of columns, of everything into one element, and into bins that the data choose.

#include "rewrite/spelled/spelled_kernels.h"

namespace optiml::rewrite::testing {
namespace {

using Role = SpelledArgument::Role;
using Values = std::vector<std::vector<double>>;

constexpr SpellingText kColumnSum[] = {
    {"early_return",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float s = 0.0f;
  for (int r = 0; r < rows; ++r) s += x[r * cols + c];
  y[c] = s;
}
)",
     "k<<<(cols + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"moving_pointer",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < cols) {
    const float* p = x + c;
    float s = 0;
    for (int r = 0; r < rows; ++r, p += cols) s = s + *p;
    y[c] = s;
  }
}
)",
     "k<<<(cols + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"macros",
     R"(
#define X(r, c) x[(r) * cols + (c)]
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < cols) {
    float s = 0.0f;
    for (int r = 0; r < rows; ++r) s += X(r, c);
    y[c] = s;
  }
}
)",
     "k<<<(cols + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"grid_stride",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < cols; c += gridDim.x * blockDim.x) {
    float s = 0.0f;
    for (int r = 0; r < rows; ++r) s += x[r * cols + c];
    y[c] = s;
  }
}
)",
     "k<<<2, 64>>>(x, y, rows, cols);"},
    {"template",
     R"(
template <typename T>
__global__ void k(const T* x, T* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  T s = 0;
  for (int r = 0; r < rows; ++r) s += x[r * cols + c];
  y[c] = s;
}
)",
     "k<float><<<(cols + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"moving_index",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float s = 0.0f;
  for (int r = 0, i = c; r < rows; ++r, i += cols) s = s + x[i];
  y[c] = s;
}
)",
     "k<<<(cols + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"while_loop",
     R"(
__device__ float element(const float* x, int r, int c, int cols) { return x[r * cols + c]; }
__global__ void k(const float* x, float* y, int rows, int cols) {
  size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= (size_t)cols) return;
  float s = 0.0f;
  int r = 0;
  while (r < rows) {
    s = s + element(x, r, c, cols);
    r++;
  }
  y[c] = s;
}
)",
     "k<<<(cols + 127) / 128, 128>>>(x, y, rows, cols);"},
};

constexpr SpellingText kSum[] = {
    {"early_return",
     R"(
__global__ void k(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(out, x[i]);
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, out, n);"},
    {"guard",
     R"(
__global__ void k(const float* __restrict__ x, float* out, int n) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) {
    const float v = x[i];
    atomicAdd(&out[0], v);
  }
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, out, n);"},
    {"grid_stride",
     R"(
__global__ void k(const float* x, float* out, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    s = s + x[i];
  atomicAdd(out, s);
}
)",
     "k<<<4, 128>>>(x, out, n);"},
    {"while_loop",
     R"(
__global__ void k(const float* x, float* out, int n) {
  float s = 0.0f;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (i < n) {
    s += x[i];
    i += blockDim.x * gridDim.x;
  }
  atomicAdd(out, s);
}
)",
     "k<<<4, 128>>>(x, out, n);"},
    {"macros",
     R"(
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define ADD(to, value) atomicAdd(&(to), (value))
__global__ void k(const float* x, float* out, int n) {
  int i = INDEX;
  if (i < n) ADD(out[0], x[i]);
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, out, n);"},
    {"template",
     R"(
template <typename T>
__global__ void k(const T* x, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, x[i]);
}
)",
     "k<float><<<(n + 255) / 256, 256>>>(x, out, n);"},
    {"pointer",
     R"(
__global__ void k(const float* x, float* out, int n) {
  const float* p = x + blockIdx.x * blockDim.x + threadIdx.x;
  if (p < x + n) atomicAdd(out, *p);
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, out, n);"},
    {"helper",
     R"(
__device__ void add(float* to, float value) { atomicAdd(to, value); }
__global__ void k(const float* x, float* out, int n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)n) add(out, x[i]);
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, out, n);"},
};

constexpr SpellingText kHistogram[] = {
    {"early_return",
     R"(
__global__ void k(const int* x, int* counts, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int b = x[i];
  if (b >= 0 && b < bins) atomicAdd(&counts[b], 1);
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, counts, n, bins);"},
    {"pointers",
     R"(
__global__ void k(const int* x, int* counts, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const int* p = x + i;
    if (*p >= 0 && *p < bins) atomicAdd(counts + *p, 1);
  }
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, counts, n, bins);"},
    {"macros",
     R"(
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define IN_RANGE(b) (0 <= (b) && (b) <= bins - 1)
__global__ void k(const int* x, int* counts, int n, int bins) {
  int i = INDEX;
  if (i < n && IN_RANGE(x[i])) atomicAdd(&counts[x[i]], 1);
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, counts, n, bins);"},
    {"grid_stride",
     R"(
__global__ void k(const int* x, int* counts, int n, int bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int b = x[i];
    if (b >= 0 && b < bins) atomicAdd(&counts[b], 1);
  }
}
)",
     "k<<<4, 128>>>(x, counts, n, bins);"},
    {"while_loop",
     R"(
__global__ void k(const int* x, int* counts, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int step = blockDim.x * gridDim.x;
  while (i < n) {
    const int b = x[i];
    if ((unsigned int)b < (unsigned int)bins) atomicAdd(&counts[b], 1);
    i += step;
  }
}
)",
     "k<<<4, 128>>>(x, counts, n, bins);"},
    {"template",
     R"(
template <typename T>
__global__ void k(const T* x, int* counts, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    T b = x[i];
    if (b >= 0 && b < bins) atomicAdd(&counts[b], 1);
  }
}
)",
     "k<int><<<(n + 255) / 256, 256>>>(x, counts, n, bins);"},
    {"helper",
     R"(
__device__ void count(int* counts, int bins, int b) {
  if (b < 0 || b >= bins) return;
  atomicAdd(&counts[b], 1);
}
__global__ void k(const int* x, int* counts, int n, int bins) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)n) return;
  count(counts, bins, x[i]);
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, counts, n, bins);"},
};

std::vector<double> ColumnSumsOf(const Sizes& sizes, const Values& arguments) {
  const auto cols = static_cast<size_t>(sizes.at("cols"));
  std::vector<double> y(cols);
  for (size_t i = 0; i < arguments[0].size(); ++i) {
    y[i % cols] += arguments[0][i];
  }
  return y;
}

std::vector<double> SumOf(const Sizes&, const Values& arguments) {
  double sum = 0;
  for (const double x : arguments[0]) {
    sum += x;
  }
  return {sum};
}

std::vector<double> CountsOf(const Sizes& sizes, const Values& arguments) {
  const int64_t bins = sizes.at("bins");
  std::vector<double> counts(static_cast<size_t>(bins));
  for (const double x : arguments[0]) {
    if (x >= 0 && x < static_cast<double>(bins)) {
      counts[static_cast<size_t>(x)] += 1;
    }
  }
  return counts;
}

SpelledShape ColumnSum() {
  SpelledShape shape = MatrixShape("column_sum", {"cols"});
  shape.checked = {
      {{"rows", 3}, {"cols", 5}}, {{"rows", 77}, {"cols", 33}}, {{"rows", 128}, {"cols", 256}}};
  shape.reference = ColumnSumsOf;
  shape.spellings = WithLaunchers(kMatrixParameters, kColumnSum);
  return shape;
}

SpelledShape Sum() {
  SpelledShape shape;
  shape.name = "sum";
  shape.arguments = {{Role::kInput, DType::kF32, {"n"}},
                     {Role::kOutput, DType::kF32, {}},
                     {Role::kSize, DType::kI32, {"n"}}};
  shape.timed = {{"n", 1 << 20}};
  shape.checked = {{{"n", 1}}, {{"n", 1037}}, {{"n", 16384}}};
  shape.reference = SumOf;
  shape.spellings = WithLaunchers("const float* x, float* out, int n", kSum,
                                  "  cudaMemset(out, 0, sizeof(float));\n");
  return shape;
}

SpelledShape Histogram() {
  SpelledShape shape;
  shape.name = "histogram";
  shape.arguments = {{Role::kInput, DType::kI32, {"n"}},
                     {Role::kOutput, DType::kI32, {"bins"}},
                     {Role::kSize, DType::kI32, {"n"}},
                     {Role::kSize, DType::kI32, {"bins"}}};
  shape.timed = {{"n", 1 << 20}, {"bins", 256}};
  // 300 bins are more than the copies were made for.
  shape.checked = {
      {{"n", 1}, {"bins", 3}}, {{"n", 1037}, {"bins", 300}}, {{"n", 8192}, {"bins", 256}}};
  shape.reference = CountsOf;
  shape.spellings = WithLaunchers("const int* x, int* counts, int n, int bins", kHistogram,
                                  "  cudaMemset(counts, 0, bins * sizeof(int));\n");
  return shape;
}

}  // namespace

std::vector<SpelledShape> SpelledFolds() {
  return {ColumnSum(), Sum(), Histogram()};
}

}  // namespace optiml::rewrite::testing
