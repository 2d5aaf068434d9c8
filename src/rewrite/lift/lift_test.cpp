#include "rewrite/lift/lift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/lift/lift_test_support.h"

namespace optiml::rewrite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(LiftMap, ReluIsOneStageInEverySpelling) {
  ExpectAll1d("i", "n", "const float* x, float* y, int n",
              {
                  "y[i] = fmaxf(x[i], 0.0f);",
                  "float v = x[i]; y[i] = fmaxf(v, 0.f);",
                  "*(y + i) = max(*(x + i), 0.0f);",
                  "const float* p = &x[i]; float* q = y + i; *q = fmaxf(p[0], 0);",
                  "float v; v = x[i]; v = fmaxf(v, 0.0f); y[i] = v;",
                  "y[i] = fmaxf(__ldg(&x[i]), 0.0f);",
                  "__stcs(y + i, fmaxf(__ldg(x + i), 0.0f));",
              },
              "Program  k(x, y, n)  par: i in [0, n)\n"
              "  Stage  y[i] = fmaxf(x[i], 0.0f)\n");
}

TEST(LiftMap, BranchesBecomeASelect) {
  ExpectAll1d("i", "n", "const float* x, float* y, int n",
              {
                  "y[i] = x[i] > 0.0f ? x[i] : 0.0f;",
                  "if (x[i] > 0.0f) y[i] = x[i]; else y[i] = 0.0f;",
                  "float r; if (x[i] > 0.0f) { r = x[i]; } else { r = 0.0f; } y[i] = r;",
                  "float r = 0.0f; if (x[i] > 0.0f) r = x[i]; y[i] = r;",
              },
              "Program  k(x, y, n)  par: i in [0, n)\n"
              "  Stage  y[i] = x[i] > 0.0f ? x[i] : 0.0f\n");
}

TEST(LiftMap, AxpyUpdatesInPlace) {
  ExpectAll1d("i", "n", "float a, const float* x, float* y, int n",
              {
                  "y[i] = y[i] + a * x[i];",
                  "y[i] += a * x[i];",
                  "float t = a * x[i]; float old = y[i]; y[i] = old + t;",
                  "float* p = y; p += i; *p += a * x[i];",
                  "const float s = a; y[i] = y[i] + s * x[i];",
                  "float& alias = a; y[i] += alias * x[i];",
              },
              "Program  k(a, x, y, n)  par: i in [0, n)\n"
              "  Stage  y[i] = y[i] + a * x[i]\n");
}

TEST(LiftMap, GeluKeepsTheNameOfAValueThatIsUsedTwice) {
  const std::string gelu =
      "__device__ float Gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }\n";
  const std::string expected =
      "Program  k(x, y, n)  par: i in [0, n)\n"
      "  Stage  y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f)), where v = x[i]\n";
  ExpectAll1d("i", "n", "const float* x, float* y, int n",
              {
                  "float v = x[i]; y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));",
                  "const float v = x[i]; float h = 0.5f * v; float e = erff(v * 0.70710678f);"
                  "y[i] = h * (1.0f + e);",
                  "float v = x[i]; float cdf = 1.0f + erf(v * 0.70710678f); y[i] = 0.5f * v * cdf;",
              },
              expected);
  for (const std::string& text :
       Spellings1d("i", "n", "const float* x, float* y, int n", "y[i] = Gelu(x[i]);")) {
    EXPECT_EQ(LiftText(gelu + text), expected) << text;
  }
}

TEST(LiftMap, TemplatesAreInstancesWithTheirConstants) {
  const std::string text =
      "template <typename T, int SCALE> __global__ void k(const T* x, T* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = x[i] * SCALE;\n}\n"
      "void run(const int* x, int* y, int n) { k<int, 3><<<(n + 255) / 256, 256>>>(x, y, n); }\n";
  EXPECT_EQ(LiftText(text),
            "Program  k(x, y, n)  par: i in [0, n)\n"
            "  Stage  y[i] = x[i] * 3\n");
}

TEST(LiftMap, EarlyReturnsOfHelpersAreSelects) {
  const std::string helper =
      "__device__ float Clip(float v, float low, float high) {\n"
      "  if (v < low) return low;\n  if (v > high) return high;\n  return v; }\n";
  EXPECT_EQ(
      LiftText(helper + "__global__ void k(const float* x, float* y, float a, float b, int n) {\n"
                        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                        "  if (i < n) y[i] = Clip(x[i], a, b); }"),
      "Program  k(x, y, a, b, n)  par: i in [0, n)\n"
      "  Stage  y[i] = v < a ? a : v > b ? b : v, where v = x[i]\n");
}

TEST(LiftTranspose, SplitsOrKeepsTheIndex) {
  ExpectAll2d("r", "c", "rows", "cols", "const float* in, float* out, int rows, int cols",
              {
                  "out[c * rows + r] = in[r * cols + c];",
                  "out[(size_t)c * rows + r] = in[(size_t)r * cols + c];",
                  "float* o = out + c * rows; const float* p = in + r * cols; o[r] = p[c];",
                  "int from = r * cols + c, to = r + rows * c; float v = in[from]; out[to] = v;",
              },
              "Program  k(in, out, rows, cols)  par: r in [0, rows), c in [0, cols)\n"
              "  Stage  out[r + c*rows] = in[r*cols + c]\n");
}

const char* const kSoftmax =
    "Program  k(x, y, rows, cols)  par: row in [0, rows)\n"
    "  Stage  fold  m = max over c in [0, cols) of x[row*cols + c], from -INFINITY\n"
    "  Stage  fold  s = sum over c in [0, cols) of expf(x[row*cols + c] - m), from 0.0f\n"
    "  Stage  par c in [0, cols):  y[row*cols + c] = expf(x[row*cols + c] - m) / s\n";

TEST(LiftSoftmax, ThreePassesInEverySpelling) {
  ExpectAll1d(
      "row", "rows", "const float* x, float* y, int rows, int cols",
      {
          "float m = -INFINITY;\n"
          "for (int c = 0; c < cols; ++c) m = fmaxf(m, x[row * cols + c]);\n"
          "float s = 0.0f;\n"
          "for (int c = 0; c < cols; ++c) s += expf(x[row * cols + c] - m);\n"
          "for (int c = 0; c < cols; ++c) y[row * cols + c] = expf(x[row * cols + c] - m) / s;",

          "const float* xr = x + (size_t)row * cols; float* yr = &y[(size_t)row * cols];\n"
          "float m = -INFINITY; float s = 0;\n"
          "for (int c = 0; c < cols; c++) { float v = xr[c]; if (v > m) m = v; }\n"
          "for (int c = 0; c < cols; c += 1) { s = s + expf(*(xr + c) - m); }\n"
          "for (int c = 0; c < cols; c++) { float e = expf(xr[c] - m); yr[c] = e / s; }",

          "const int base = row * cols; float m = -INFINITY, s = 0.f; int c = 0;\n"
          "while (c < cols) { m = x[base + c] > m ? x[base + c] : m; ++c; }\n"
          "for (c = 0; c <= cols - 1; c++) s = expf(x[base + c] - m) + s;\n"
          "for (c = 0; c != cols; c++) y[base + c] = exp(x[base + c] - m) / s;",

          "float m = -INFINITY, s = 0;\n"
          "for (int c = 0; c < cols; ++c) { const float v = x[row * cols + c]; m = m < v ? v : m; "
          "}\n"
          "for (int c = 0; c < cols; ++c) { float e = expf(x[row * cols + c] - m); s += e; }\n"
          "for (int c = 0; c < cols; ++c) {\n"
          "  y[row * cols + c] = expf(x[row * cols + c] - m) / s; }",

          "const float* p = x + row * cols; float m = -INFINITY;\n"
          "for (int c = 0; c < cols; ++c) { m = max(m, *p); p++; }\n"
          "const float* q = x + row * cols; float s = 0;\n"
          "for (int c = 0; c < cols; ++c) s += expf(*q++ - m);\n"
          "for (int c = 0; c < cols; ++c) y[row * cols + c] = expf(x[row * cols + c] - m) / s;",
      },
      kSoftmax);
}

TEST(LiftSoftmax, TheComparisonsSpellingIsKept) {
  const auto spelling = [](const std::string& step) {
    const auto outcome = LiftFirstKernel(
        "__global__ void k(const float* x, float* y, int rows, int cols) {\n"
        "int row = blockIdx.x * blockDim.x + threadIdx.x; if (row >= rows) return;\n"
        "float m = -INFINITY; for (int c = 0; c < cols; ++c) { float v = x[row * cols + c]; " +
        step + " } y[row] = m; }");
    const Program* program = std::get_if<Program>(&outcome);
    return program == nullptr ? std::get<std::string>(outcome)
                              : program->stages[0].accumulators[0].spelling;
  };
  EXPECT_EQ(spelling("m = fmaxf(v, m);"), "fmaxf");
  EXPECT_EQ(spelling("if (v > m) m = v;"), "u > a ? u : a");
  EXPECT_EQ(spelling("m = m < v ? v : m;"), "u > a ? u : a");
  EXPECT_EQ(spelling("m = v >= m ? v : m;"), "u >= a ? u : a");
  EXPECT_EQ(spelling("m = m > v ? m : v;"), "a > u ? a : u");
  EXPECT_EQ(spelling("if (v < m) m = v;"), "u < a ? u : a");
}

TEST(LiftRowMax, StartsFromTheFirstElement) {
  ExpectAll1d("row", "rows", "const float* x, float* y, int rows, int cols",
              {
                  "float m = x[row * cols];\n"
                  "for (int c = 1; c < cols; ++c) m = fmaxf(m, x[row * cols + c]); y[row] = m;",
                  "const float* xr = x + row * cols; float m = xr[0];\n"
                  "for (int c = 1; c < cols; ++c) { if (xr[c] > m) { m = xr[c]; } } y[row] = m;",
                  "const float* xr = x + row * cols; float m = *xr;\n"
                  "for (int c = 0; c < cols; ++c) m = fmaxf(xr[c], m); y[row] = m;",
              },
              "Program  k(x, y, rows, cols)  par: row in [0, rows)\n"
              "  Stage  fold  m = max over c in [0, cols) of x[row*cols + c], from x[row*cols]\n"
              "  Stage  y[row] = m\n");
}

TEST(LiftLayerNorm, TwoPassesWithScalarsBetween) {
  const std::string tail =
      "for (int c = 0; c < cols; ++c)\n"
      "  y[row * cols + c] = (x[row * cols + c] - mean) * inv * g[c] + b[c];";
  ExpectAll1d(
      "row", "rows",
      "const float* x, const float* g, const float* b, float* y, int rows, int cols, float eps",
      {
          "float total = 0.0f; for (int c = 0; c < cols; ++c) total += x[row * cols + c];\n"
          "float mean = total / cols; float var = 0.0f;\n"
          "for (int c = 0; c < cols; ++c) { float d = x[row * cols + c] - mean; var += d * d; }\n"
          "float inv = rsqrtf(var / cols + eps);\n" +
              tail,

          "const float* xr = x + row * cols; float total = 0;\n"
          "for (int c = cols - 1; c >= 0; c--) total += xr[cols - 1 - c];\n"
          "const float mean = total / (float)cols; float var = 0;\n"
          "for (int c = 0; c < cols; c++) { const float d = xr[c] - mean; var = var + d * d; }\n"
          "var = var / cols; float inv = rsqrt(var + eps);\n"
          "float* yr = y + row * cols;\n"
          "for (int c = 0; c < cols; c++) { float v = (xr[c] - mean) * inv;\n"
          "  yr[c] = v * g[c] + b[c]; }",
      },
      "Program  k(x, g, b, y, rows, cols, eps)  par: row in [0, rows)\n"
      "  Stage  fold  total = sum over c in [0, cols) of x[row*cols + c], from 0.0f\n"
      "  Stage  let mean = total / cols\n"
      "  Stage  fold  var = sum over c in [0, cols) of d * d, from 0.0f,"
      " where d = x[row*cols + c] - mean\n"
      "  Stage  let inv = rsqrtf(var / cols + eps)\n"
      "  Stage  par c in [0, cols):"
      "  y[row*cols + c] = (x[row*cols + c] - mean) * inv * g[c] + b[c]\n");
}

TEST(LiftLayerNorm, TwoAccumulatorsOfOneLoopShareAStage) {
  EXPECT_EQ(
      LiftText("__global__ void k(const float* x, float* y, int rows, int cols) {\n"
               "int row = blockIdx.x * blockDim.x + threadIdx.x; if (row >= rows) return;\n"
               "float s = 0, q = 0; for (int c = 0; c < cols; ++c) {\n"
               "  float v = x[row * cols + c]; s += v; q += v * v; }\n"
               "y[row] = q - s * s; }"),
      "Program  k(x, y, rows, cols)  par: row in [0, rows)\n"
      "  Stage  fold  s = sum over c in [0, cols) of v, from 0.0f; q = sum over c in [0, cols)"
      " of v * v, from 0.0f, where v = x[row*cols + c]\n"
      "  Stage  y[row] = q - s * s\n");
}

TEST(LiftSum, AtomicsWithAndWithoutLocalSums) {
  const std::string expected =
      "Program  k(x, out, n)  par: i in [0, n)\n"
      "  Stage  out[0] atomic sum x[i]\n";
  ExpectAll1d("i", "n", "const float* x, float* out, int n",
              {
                  "atomicAdd(out, x[i]);",
                  "float v = x[i]; atomicAdd(&out[0], v);",
                  "atomicAdd(out + 0, __ldg(x + i));",
              },
              expected);
  const std::string head = "__global__ void k(const float* x, float* out, int n) {\n";
  const std::string id = "blockIdx.x * blockDim.x + threadIdx.x";
  for (const std::string& body : {
           "float s = 0.0f; for (int i = " + id +
               "; i < n; i += blockDim.x * gridDim.x) s += x[i]; atomicAdd(out, s); }",
           "int i = " + id +
               "; int stride = gridDim.x * blockDim.x; float s = 0;\n"
               "while (i < n) { s = s + x[i]; i += stride; } atomicAdd(&out[0], s); }",
           std::string(
               "float s = 0; const int step = blockDim.x * gridDim.x;\n"
               "for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i = i + step) {\n"
               "  float v = x[i]; s = v + s; } atomicAdd(out, s); }"),
           "int i = " + id +
               "; float s = 0.0f; for (; i < n;) { s += x[i]; i += gridDim.x * blockDim.x; }\n"
               "atomicAdd(out, s); }",
           "#define STRIDE (gridDim.x * blockDim.x)\n"
           "float s = 0.f; for (size_t i = " +
               id + "; i < n; i += STRIDE) { s = s + x[i]; } atomicAdd(out, s); }",
           "float s = 0; for (int i = " + id +
               "; i <= n - 1; i += blockDim.x * gridDim.x) s += __ldg(&x[i]);\n"
               "atomicAdd(out, s); }",
       }) {
    const auto outcome = LiftFirstKernel(head + body);
    const Program* program = std::get_if<Program>(&outcome);
    ASSERT_NE(program, nullptr) << std::get<std::string>(outcome) << body;
    EXPECT_EQ(Format(*program), expected) << body;
    EXPECT_TRUE(program->regroups_floats);
  }
}

TEST(LiftSum, ASharesFactorIsEachTermsFactor) {
  const std::string head =
      "__global__ void k(const float* x, float* out, int n, float scale) {\n"
      "float s = 0.0f; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x "
      "* "
      "gridDim.x) s += x[i] * x[i];\n";
  const std::string program = "Program  k(x, out, n, scale)  par: i in [0, n)\n";
  EXPECT_EQ(LiftText(head + "atomicAdd(out, s / n); }"),
            program + "  Stage  out[0] atomic sum x[i] * x[i] / n\n");
  EXPECT_EQ(LiftText(head + "atomicAdd(out, -(scale * s)); }"),
            program + "  Stage  out[0] atomic sum -(scale * (x[i] * x[i]))\n");
  for (const char* other : {"s * s", "s + 1.0f", "scale / s", "sqrtf(s)", "s * threadIdx.x",
                            "s * x[0]", "s / blockDim.x"}) {
    EXPECT_THAT(LiftText(head + "atomicAdd(out, " + other + "); }"),
                ::testing::HasSubstr("used other than in one atomic"))
        << other;
  }
  // Neither whole numbers' quotients nor maxima go into the terms.
  EXPECT_THAT(LiftText("__global__ void k(const int* x, int* out, int n) {\n"
                       "int s = 0; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += "
                       "blockDim.x * gridDim.x) s += x[i]; atomicAdd(out, s / n); }"),
              ::testing::HasSubstr("used other than in one atomic"));
  EXPECT_THAT(
      LiftText("__global__ void k(const int* x, int* out, int n) {\n"
               "int s = -2147483648; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; "
               "i += blockDim.x * gridDim.x) s = max(s, x[i]); atomicMax(out, -s); }"),
      ::testing::HasSubstr("used other than in one atomic"));
}

TEST(LiftDot, IsAnAtomicSumOfProducts) {
  ExpectAll1d("i", "n", "const float* a, const float* b, float* out, int n",
              {
                  "atomicAdd(out, a[i] * b[i]);",
                  "float p = a[i]; p *= b[i]; atomicAdd(out, p);",
              },
              "Program  k(a, b, out, n)  par: i in [0, n)\n"
              "  Stage  out[0] atomic sum a[i] * b[i]\n");
}

TEST(LiftMatmul, IsAFoldOverK) {
  ExpectAll2d(
      "row", "col", "m", "n", "const float* a, const float* b, float* c, int m, int n, int k_size",
      {
          "float acc = 0.0f; for (int p = 0; p < k_size; ++p)\n"
          "  acc += a[row * k_size + p] * b[p * n + col]; c[row * n + col] = acc;",
          "float acc = 0; const float* ar = a + row * k_size; const float* bc = b + col;\n"
          "for (int p = 0; p < k_size; p++) { acc = acc + ar[p] * *bc; bc += n; }\n"
          "c[row * n + col] = acc;",
          "float acc = 0; for (int p = 0; p < k_size; p++)\n"
          "  acc = fmaf(a[row * k_size + p], b[p * n + col], acc); c[row * n + col] = acc;",
          "float acc = 0; int p = 0; do { } while (false);\n"
          "for (; p < k_size;) { float x = a[row * k_size + p], y = b[p * n + col];\n"
          "  acc += x * y; p++; } c[row * n + col] = acc;",
      },
      "Program  k(a, b, c, m, n, k_size)  par: row in [0, m), col in [0, n)\n"
      "  Stage  fold  acc = sum over p in [0, k_size) of a[row*k_size + p] * b[col + p*n], from "
      "0.0f\n"
      "  Stage  c[row*n + col] = acc\n");
}

TEST(LiftMatmul, ALoopOverColumnsBecomesADim) {
  EXPECT_EQ(LiftText("__global__ void k(const float* a, const float* b, float* c, int m, int n) {\n"
                     "int row = blockIdx.x * blockDim.x + threadIdx.x; if (row >= m) return;\n"
                     "for (int col = 0; col < n; ++col) { float acc = 0;\n"
                     "for (int p = 0; p < m; ++p) acc += a[row * m + p] * b[p * n + col];\n"
                     "c[row * n + col] = acc; } }"),
            "Program  k(a, b, c, m, n)  par: row in [0, m), col in [0, n)\n"
            "  Stage  fold  acc = sum over p in [0, m) of a[row*m + p] * b[col + p*n], from 0.0f\n"
            "  Stage  c[row*n + col] = acc\n");
}

TEST(LiftHistogram, HasAnOpaqueIndex) {
  ExpectAll1d("i", "n", "const unsigned char* x, int* h, int n",
              {
                  "atomicAdd(&h[x[i]], 1);",
                  "unsigned char bin = x[i]; atomicAdd(h + bin, 1);",
                  "int bin = x[i]; atomicAdd(&h[bin], 1);",
              },
              "Program  k(x, h, n)  par: i in [0, n)\n"
              "  Stage  h[x[i]] atomic sum 1\n");
}

TEST(LiftGather, LoadsMayBeIndirect) {
  ExpectAll1d("i", "n", "const int* idx, const float* x, float* y, int n",
              {"y[i] = x[idx[i]];", "int j = idx[i]; y[i] = x[j];"},
              "Program  k(idx, x, y, n)  par: i in [0, n)\n"
              "  Stage  y[i] = x[idx[i]]\n");
}

TEST(LiftGemv, IsARowFold) {
  ExpectAll1d(
      "row", "m", "const float* a, const float* x, float* y, int m, int n",
      {
          "float s = 0; for (int c = 0; c < n; ++c) s += a[row * n + c] * x[c]; y[row] = s;",
          "const float* ar = a + row * n; float s = 0;\n"
          "for (int c = 0; c < n; ++c) s = fmaf(ar[c], x[c], s); y[row] = s;",
          "float s = 0; int c = n; c = 0; while (c < n) { s += a[row * n + c] * x[c]; c++; }\n"
          "y[row] = s;",
      },
      "Program  k(a, x, y, m, n)  par: row in [0, m)\n"
      "  Stage  fold  s = sum over c in [0, n) of a[row*n + c] * x[c], from 0.0f\n"
      "  Stage  y[row] = s\n");
}

TEST(LiftColumnSums, WalkDownARow) {
  ExpectAll1d(
      "c", "cols", "const float* x, float* y, int rows, int cols",
      {
          "float s = 0; for (int r = 0; r < rows; ++r) s += x[r * cols + c]; y[c] = s;",
          "const float* p = x + c; float s = 0;\n"
          "for (int r = 0; r < rows; ++r, p += cols) s += *p; y[c] = s;",
          "float s = 0; int at = c; for (int r = 0; r < rows; ++r) { s += x[at]; at += cols; }"
          " y[c] = s;",
      },
      "Program  k(x, y, rows, cols)  par: c in [0, cols)\n"
      "  Stage  fold  s = sum over r in [0, rows) of x[c + r*cols], from 0.0f\n"
      "  Stage  y[c] = s\n");
}

TEST(LiftPairs, ShortInnerFoldsAreWrittenOut) {
  EXPECT_EQ(LiftText("__global__ void k(const float* p, const float* q, float* d, int n, int m) {\n"
                     "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
                     "for (int j = 0; j < m; ++j) { float s = 0;\n"
                     "  for (int a = 0; a < 2; ++a) { float t = p[i * 2 + a] - q[j * 2 + a];\n"
                     "    s += t * t; } d[i * m + j] = s; } }"),
            "Program  k(p, q, d, n, m)  par: i in [0, n)\n"
            "  Stage  par j in [0, m):  d[i*m + j] = 0.0f + t * t + t_2 * t_2, where t = p[2*i] - "
            "q[2*j]; t_2 = p[2*i + 1] - q[2*j + 1]\n");
}

TEST(LiftBlocks, ABlocksSharedLoopIsARowsLoop) {
  const auto outcome = LiftFirstKernel(
      "__global__ void k(const float* x, float* y, int rows, int cols) {\n"
      "int row = blockIdx.x; if (row >= rows) return; float s = 0;\n"
      "for (int c = 0; c < cols; ++c) s += x[row * cols + c];\n"
      "for (int c = threadIdx.x; c < cols; c += blockDim.x)\n"
      "  y[row * cols + c] = x[row * cols + c] / s; }");
  ASSERT_TRUE(std::holds_alternative<Program>(outcome)) << std::get<std::string>(outcome);
  EXPECT_EQ(Format(std::get<Program>(outcome)),
            "Program  k(x, y, rows, cols)  par: row in [0, rows)\n"
            "  Stage  fold  s = sum over c in [0, cols) of x[row*cols + c], from 0.0f\n"
            "  Stage  par c in [0, cols):  y[row*cols + c] = x[row*cols + c] / s\n");
}

TEST(LiftAssumptions, NameWhatTheLaunchMustBe) {
  EXPECT_THAT(LiftText("__global__ void k(const float* x, float* y, int n) {\n"
                       "int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = x[i]; }"),
              HasSubstr("Assumes  blockDim.x == 256"));
  EXPECT_THAT(LiftText("__global__ void k(const float* x, float* y, int n) {\n"
                       "int i = blockIdx.x; if (i < n) y[i] = x[i]; }"),
              HasSubstr("Assumes  blockDim.x == 1"));
  EXPECT_THAT(LiftText("__global__ void k(const float* x, float* y, int n, int m) {\n"
                       "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
                       "float s = 0; int c = 0; do { s += x[i * m + c]; ++c; } while (c < m);\n"
                       "y[i] = s; }"),
              HasSubstr("Assumes  m - 1 >= 0"));
}

TEST(LiftInPlace, ARowMayBeRewrittenByItsOwnPoint) {
  EXPECT_EQ(LiftText("__global__ void k(float* x, int rows, int cols) {\n"
                     "int row = blockIdx.x * blockDim.x + threadIdx.x; if (row >= rows) return;\n"
                     "float s = 0; for (int c = 0; c < cols; ++c) {\n"
                     "  x[row * cols + c] = expf(x[row * cols + c]); s += x[row * cols + c]; }\n"
                     "for (int c = 0; c < cols; ++c) x[row * cols + c] /= s; }"),
            "Program  k(x, rows, cols)  par: row in [0, rows)\n"
            "  Stage  fold  s = sum over c in [0, cols) of x_value, from 0.0f; x[row*cols + c] = "
            "x_value, where x_value = expf(x[row*cols + c])\n"
            "  Stage  par c in [0, cols):  x[row*cols + c] = x[row*cols + c] / s\n");
}

TEST(LiftParameters, SaysWhatIsReadAndWritten) {
  const auto outcome = LiftFirstKernel(
      "__global__ void k(const float* __restrict__ x, float* y, long long n, double unused) {\n"
      "long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += x[i]; }");
  ASSERT_TRUE(std::holds_alternative<Program>(outcome)) << std::get<std::string>(outcome);
  const Program& program = std::get<Program>(outcome);
  ASSERT_EQ(program.parameters.size(), 4u);
  EXPECT_TRUE(program.parameters[0].is_const);
  EXPECT_TRUE(program.parameters[0].is_restrict);
  EXPECT_TRUE(program.parameters[0].is_read);
  EXPECT_FALSE(program.parameters[0].is_written);
  EXPECT_TRUE(program.parameters[1].is_read);
  EXPECT_TRUE(program.parameters[1].is_written);
  EXPECT_EQ(program.parameters[2].type, Scalar::kI64);
  EXPECT_EQ(program.dims[0].extent->type, Scalar::kI64) << "counted in 64 bits";
  EXPECT_EQ(program.dims[0].thread_axis, 0);
}

}  // namespace
}  // namespace optiml::rewrite
