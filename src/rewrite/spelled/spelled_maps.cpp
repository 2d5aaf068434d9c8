// Maps: axpb for what takes points one by one, scale_rows for dims that are contiguous, row_map for
// neighbours that are a row apart.

#include "rewrite/spelled/spelled_kernels.h"

namespace optiml::rewrite::testing {
namespace {

using Role = SpelledArgument::Role;
using Values = std::vector<std::vector<double>>;

// y = 2 x + 1
constexpr SpellingText kAxpb[] = {
    {"early_return",
     R"(
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = 2.0f * x[i] + 1.0f;
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, y, n);"},
    {"guard",
     R"(
__global__ void k(const float* __restrict__ x, float* __restrict__ y, int n) {
  const unsigned int i = threadIdx.x + blockDim.x * blockIdx.x;
  if (i < n) {
    float v = x[i];
    v = v * 2.0f;
    v = v + 1.0f;
    y[i] = v;
  }
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, y, n);"},
    {"moved_pointers",
     R"(
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x += i;
  y += i;
  if (i < n) *y = *x * 2.0f + 1.0f;
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, y, n);"},
    {"macros",
     R"(
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define AXPB(v) ((v) * 2.0f + 1.0f)
__global__ void k(const float* x, float* y, int n) {
  int i = INDEX;
  if (i < n) y[i] = AXPB(x[i]);
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, y, n);"},
    {"grid_stride",
     R"(
__global__ void k(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] = 2.0f * x[i] + 1.0f;
}
)",
     "k<<<8, 256>>>(x, y, n);"},
    {"while_loop",
     R"(
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int step = gridDim.x * blockDim.x;
  while (i < n) {
    y[i] = x[i] * 2.0f + 1.0f;
    i += step;
  }
}
)",
     "k<<<8, 256>>>(x, y, n);"},
    {"type_template",
     R"(
template <typename T>
__global__ void k(const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * T(2) + T(1);
}
)",
     "k<float><<<(n + 255) / 256, 256>>>(x, y, n);"},
    {"size_template",
     R"(
template <int kThreads>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i] + 1.0f;
}
)",
     "k<128><<<(n + 127) / 128, 128>>>(x, y, n);"},
    {"helper",
     R"(
static __device__ __forceinline__ float axpb(float v) { return fmaf(v, 2.0f, 1.0f); }
__global__ void k(const float* x, float* y, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = axpb(x[i]);
}
)",
     "k<<<(n + 255) / 256, 256>>>(x, y, n);"},
};

// x *= factor, in place
constexpr SpellingText kScaleRows[] = {
    {"early_return",
     R"(
__global__ void k(float* x, float factor, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  x[r * cols + c] *= factor;
}
)",
     "dim3 block(32, 8);\n  "
     "dim3 grid((cols + 31) / 32, (rows + 7) / 8);\n  "
     "k<<<grid, block>>>(x, factor, rows, cols);"},
    {"row_pointers",
     R"(
__global__ void k(float* x, float factor, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    float* row = x + (size_t)r * cols;
    row[c] = row[c] * factor;
  }
}
)",
     "k<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(x, factor, rows, cols);"},
    {"macros",
     R"(
#define AT(r, c) x[(r) * cols + (c)]
#define OUTSIDE(r, c) ((r) >= rows || (c) >= cols)
__global__ void k(float* x, float factor, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (OUTSIDE(r, c)) return;
  AT(r, c) = AT(r, c) * factor;
}
)",
     "k<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(x, factor, rows, cols);"},
    {"grid_stride",
     R"(
__global__ void k(float* x, float factor, int rows, int cols) {
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < rows; r += gridDim.y * blockDim.y)
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < cols; c += gridDim.x * blockDim.x)
      x[r * cols + c] *= factor;
}
)",
     "k<<<dim3(4, 4), dim3(32, 8)>>>(x, factor, rows, cols);"},
    {"template",
     R"(
template <typename T, int kX>
__global__ void k(T* x, T factor, int rows, int cols) {
  int c = blockIdx.x * kX + threadIdx.x;
  int r = blockIdx.y;
  if (r < rows && c < cols) x[r * cols + c] = x[r * cols + c] * factor;
}
)",
     "k<float, 128><<<dim3((cols + 127) / 128, rows), 128>>>(x, factor, rows, cols);"},
    {"row_of_a_block",
     R"(
__global__ void k(float* x, float factor, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows) return;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) x[r * cols + c] *= factor;
}
)",
     "k<<<rows, 128>>>(x, factor, rows, cols);"},
    {"helpers",
     R"(
__device__ int at(int r, int c, int cols) { return r * cols + c; }
__device__ bool inside(int r, int c, int rows, int cols) { return r < rows && c < cols; }
__global__ void k(float* x, float factor, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (!inside(r, c, rows, cols)) return;
  int i = at(r, c, cols);
  x[i] = factor * x[i];
}
)",
     "k<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(x, factor, rows, cols);"},
    {"nested_guards",
     R"(
__global__ void k(float* x, float factor, int rows, int cols) {
  const long long c = threadIdx.x + (long long)blockIdx.x * blockDim.x;
  if (c < cols) {
    const long long r = threadIdx.y + (long long)blockIdx.y * blockDim.y;
    if (r < rows) {
      x[r * cols + c] = x[r * cols + c] * factor;
    }
  }
}
)",
     "k<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(x, factor, rows, cols);"},
};

// y = x + 1, a thread a row
constexpr SpellingText kRowMap[] = {
    {"early_return",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  for (int c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] + 1.0f;
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
    for (int c = 0; c < cols; c++) out[c] = in[c] + 1.0f;
  }
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"moving_pointers",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* in = x + r * cols;
  float* out = y + r * cols;
  for (int c = 0; c < cols; ++c) *out++ = *in++ + 1.0f;
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"macros",
     R"(
#define AT(p, r, c) p[(r) * cols + (c)]
#define EACH(c) for (int c = 0; c < cols; ++c)
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) EACH(c) AT(y, r, c) = AT(x, r, c) + 1.0f;
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"grid_stride",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x)
    for (int c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] + 1.0f;
}
)",
     "k<<<2, 64>>>(x, y, rows, cols);"},
    {"template",
     R"(
template <typename T>
__global__ void k(const T* x, T* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  for (int c = 0; c < cols; ++c) {
    T v = x[r * cols + c];
    v += T(1);
    y[r * cols + c] = v;
  }
}
)",
     "k<float><<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"while_loop",
     R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int c = 0;
  while (c < cols) {
    y[r * cols + c] = x[r * cols + c] + 1.0f;
    c++;
  }
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
    {"helper",
     R"(
__device__ void add_one(const float* in, float* out, int at) { out[at] = in[at] + 1.0f; }
__global__ void k(const float* x, float* y, int rows, int cols) {
  size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= (size_t)rows) return;
  for (int c = 0; c < cols; ++c) add_one(x, y, r * cols + c);
}
)",
     "k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);"},
};

// f of each element of the first argument.
template <typename Function>
std::vector<double> Mapped(const Values& arguments, Function f) {
  std::vector<double> values = arguments[0];
  for (double& value : values) {
    value = f(value);
  }
  return values;
}

SpelledShape Axpb() {
  SpelledShape shape;
  shape.name = "axpb";
  shape.arguments = {{Role::kInput, DType::kF32, {"n"}},
                     {Role::kOutput, DType::kF32, {"n"}},
                     {Role::kSize, DType::kI32, {"n"}}};
  shape.timed = {{"n", 1 << 20}};
  shape.checked = {{{"n", 1}}, {{"n", 1037}}, {{"n", 8192}}};
  shape.reference = [](const Sizes&, const Values& arguments) {
    return Mapped(arguments, [](double x) { return 2 * x + 1; });
  };
  shape.spellings = WithLaunchers("const float* x, float* y, int n", kAxpb);
  return shape;
}

SpelledShape ScaleRows() {
  SpelledShape shape;
  shape.name = "scale_rows";
  shape.arguments = {{Role::kInPlace, DType::kF32, {"rows", "cols"}},
                     {Role::kFraction, DType::kF32, {}},
                     {Role::kSize, DType::kI32, {"rows"}},
                     {Role::kSize, DType::kI32, {"cols"}}};
  shape.timed = {{"rows", 1024}, {"cols", 1024}};
  shape.checked = {
      {{"rows", 3}, {"cols", 5}}, {{"rows", 37}, {"cols", 33}}, {{"rows", 64}, {"cols", 128}}};
  shape.reference = [](const Sizes&, const Values& arguments) {
    return Mapped(arguments, [](double x) { return x * kSpelledFraction; });
  };
  shape.spellings = WithLaunchers("float* x, float factor, int rows, int cols", kScaleRows);
  return shape;
}

SpelledShape RowMap() {
  SpelledShape shape = MatrixShape("row_map", {"rows", "cols"});
  shape.checked = {
      {{"rows", 3}, {"cols", 5}}, {{"rows", 37}, {"cols", 33}}, {{"rows", 64}, {"cols", 128}}};
  shape.reference = [](const Sizes&, const Values& arguments) {
    return Mapped(arguments, [](double x) { return x + 1; });
  };
  shape.spellings = WithLaunchers(kMatrixParameters, kRowMap);
  return shape;
}

}  // namespace

std::vector<SpelledShape> SpelledMaps() {
  return {Axpb(), ScaleRows(), RowMap()};
}

}  // namespace optiml::rewrite::testing
