// What the lift must refuse, with a reason that names the construct and its line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/lift/lift_test_support.h"

namespace optiml::rewrite {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// The refusal of a kernel with the usual guard around `body`; line 3 is the body's first.
std::string Refusal1d(const std::string& body,
                      const std::string& parameters = "const float* x, float* y, int n, int m") {
  return LiftText("__global__ void k(" + parameters +
                  ") {\nint i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n" +
                  body + "\n}");
}

TEST(LiftRefuses, ThreadsThatTalkToEachOther) {
  EXPECT_EQ(Refusal1d("__shared__ float t[256]; t[threadIdx.x] = x[i]; y[i] = t[0];"),
            "refused: line 3: t is in shared memory: kernels with shared memory are not lifted");
  EXPECT_EQ(Refusal1d("y[i] = x[i];\n__syncthreads();"),
            "refused: line 4: __syncthreads: kernels with barriers are not lifted");
  EXPECT_THAT(Refusal1d("y[i] = __shfl_down_sync(0xffffffffu, x[i], 1);"),
              HasSubstr("line 3: __shfl_down_sync: kernels with warp shuffles are not lifted"));
  EXPECT_THAT(Refusal1d("y[i] = __ballot_sync(0xffffffffu, x[i] > 0);"), HasSubstr("warp votes"));
  EXPECT_THAT(Refusal1d("__threadfence(); y[i] = x[i];"), HasSubstr("memory fences"));
}

TEST(LiftRefuses, WhatItCannotSeeThrough) {
  EXPECT_THAT(Refusal1d("asm volatile(\"\"); y[i] = x[i];"), HasSubstr("line 3: inline assembly"));
  EXPECT_THAT(Refusal1d("y[i] = x[i]; printf(\"%d\", i);"), HasSubstr("printf"));
  EXPECT_THAT(Refusal1d("if (x[i] > 0) goto end; y[i] = x[i]; end: ;"), HasSubstr("goto"));
  EXPECT_THAT(Refusal1d("switch (m) { case 0: y[i] = 1; break; default: y[i] = 2; }"),
              HasSubstr("switch"));
  EXPECT_THAT(LiftText("__device__ float Hidden(float v);\n"
                       "__global__ void k(const float* x, float* y, int n) {\n"
                       "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "if (i < n) y[i] = Hidden(x[i]); }"),
              HasSubstr("line 4: function Hidden has no body"));
  EXPECT_THAT(LiftText("__device__ int F(int v) { return v < 2 ? v : F(v - 1) + F(v - 2); }\n"
                       "__global__ void k(int* y, int n) {\n"
                       "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = F(i); }"),
              HasSubstr("recursive"));
  EXPECT_THAT(Refusal1d("y[i] = x[i];", "const volatile float* x, float* y, int n"),
              HasSubstr("volatile"));
  EXPECT_THAT(Refusal1d("volatile float t = x[i]; y[i] = t;"), HasSubstr("t is volatile"));
}

TEST(LiftRefuses, TripCountsThatDependOnData) {
  EXPECT_THAT(Refusal1d("float v = x[i]; while (v > 1e-3f) v *= 0.5f; y[i] = v;"),
              HasSubstr("line 3: the loop's trip count depends on data"));
  EXPECT_THAT(
      Refusal1d("float s = 0; for (int c = 0; c < m; ++c) { if (x[c] < 0) break; s += x[c]; }"
                "y[i] = s;"),
      HasSubstr("break"));
  EXPECT_THAT(
      Refusal1d("float s = 0; for (int c = 0; c < m; ++c) { if (x[c] < 0) return; s += x[c]; "
                "} y[i] = s;"),
      HasSubstr("return inside a loop"));
  EXPECT_THAT(
      Refusal1d("float s = 0; for (int c = ptr[i]; c < ptr[i + 1]; ++c) s += x[c]; y[i] = s;",
                "const int* ptr, const float* x, float* y, int n"),
      HasSubstr("trip count depends on data"));
  EXPECT_THAT(Refusal1d("float s = 0; for (int c = 0; c <= i; ++c) s += x[c]; y[i] = s;"),
              HasSubstr("trip count differs between points"));
  EXPECT_THAT(Refusal1d("float s = 0; bool go = true;\n"
                        "for (int c = 0; c < m && go; ++c) { s += x[c]; go = s < 3; } y[i] = s;"),
              HasSubstr("line 4: "));
  EXPECT_THAT(Refusal1d("float s = 0; for (int c = 1; c < m; c *= 2) s += x[c]; y[i] = s;"),
              StartsWith("refused: "));
  EXPECT_THAT(Refusal1d("float s = 0; for (unsigned c = m; c >= 0; --c) s += x[c]; y[i] = s;"),
              HasSubstr("may never end"));
}

TEST(LiftRefuses, PointsThatTouchEachOther) {
  EXPECT_THAT(Refusal1d("y[i] = y[i + 1];"),
              HasSubstr("y is read at a place that another point may store to"));
  EXPECT_THAT(Refusal1d("y[0] = x[i];"), HasSubstr("several points may store to one element of y"));
  EXPECT_THAT(Refusal1d("y[i / 2] = x[i];"), HasSubstr("several points may store"));
  EXPECT_THAT(Refusal1d("y[idx[i]] = x[i];", "const int* idx, const float* x, float* y, int n"),
              HasSubstr("several points may store"));
  EXPECT_THAT(Refusal1d("y[i * m] = x[i]; y[i] = 0;"), HasSubstr("y is also stored"));
  EXPECT_THAT(Refusal1d("atomicAdd(y, x[i]); y[i] = 0;"),
              HasSubstr("updated by atomics and used otherwise"));
  EXPECT_THAT(Refusal1d("for (int c = 0; c < m; ++c) y[c] = x[i];"),
              HasSubstr("several points may store"));
  EXPECT_THAT(Refusal1d("for (int c = 0; c < m; ++c) y[i] = x[c];"),
              HasSubstr("several points may store"));
  EXPECT_THAT(Refusal1d("for (int c = 0; c <= m; ++c) y[i * m + c] = 0;"),
              HasSubstr("several points may store"))
      << "rows overlap by one";
  EXPECT_THAT(Refusal1d("for (int c = 0; c < m; ++c) y[i * pitch + c] = 0;",
                        "float* y, int n, int m, int pitch"),
              HasSubstr("several points may store"))
      << "nothing says that the pitch is at least m";
}

TEST(LiftRefuses, RecurrencesAlongALoop) {
  EXPECT_THAT(
      Refusal1d("float s = 0; for (int c = 0; c < m; ++c) { s += x[i * m + c]; y[i * m + c] = "
                "s; }"),
      HasSubstr("an iteration uses the s of the one before"));
  EXPECT_THAT(
      Refusal1d("for (int c = 1; c < m; ++c) y[i * m + c] = y[i * m + c - 1] + x[i * m + c];"),
      HasSubstr("another point may store"));
  EXPECT_THAT(Refusal1d("float m0 = -INFINITY, s = 0; for (int c = 0; c < m; ++c) {\n"
                        "float v = x[i * m + c]; float next = fmaxf(m0, v);\n"
                        "s = s * expf(m0 - next) + expf(v - next); m0 = next; } y[i] = s;"),
              HasSubstr("s is changed in the loop in a way that is neither a counter nor a fold"));
  EXPECT_THAT(Refusal1d("float best = x[i * m]; int at = 0; for (int c = 1; c < m; ++c)\n"
                        "if (x[i * m + c] > best) { best = x[i * m + c]; at = c; } y[i] = at;"),
              StartsWith("refused: "));
  EXPECT_THAT(Refusal1d("float prev = 0; for (int c = 0; c < m; ++c) { float v = x[i * m + c];\n"
                        "y[i * m + c] = v - prev; prev = v; }"),
              HasSubstr("an iteration uses the prev of the one before"));
  EXPECT_THAT(
      Refusal1d("float a = 0, b = 1; for (int c = 0; c < m; ++c) { float t = a + b; a = b; b = "
                "t; } y[i] = a;"),
      StartsWith("refused: "));
  EXPECT_THAT(Refusal1d("float s = 0; for (int c = 0; c < m; c += 2) { s += x[c]; s += x[c + 1]; } "
                        "y[i] = s;"),
              HasSubstr("neither a counter nor a fold"))
      << "(s + a) + b is not s + (a + b) for floats";
}

TEST(LiftRefuses, LastValuesAndValuesThatWereNeverSet) {
  EXPECT_THAT(Refusal1d("float v; for (int c = 0; c < m; ++c) v = x[c]; y[i] = v;"),
              HasSubstr("the last v of a loop is used"));
  EXPECT_THAT(Refusal1d("float v; y[i] = v;"), HasSubstr("v is used before it is set"));
  EXPECT_THAT(Refusal1d("float acc; for (int c = 0; c < m; ++c) acc += x[c]; y[i] = acc;"),
              HasSubstr("acc is accumulated and was never set"));
}

TEST(LiftRefuses, ThreadIndicesThatNothingBounds) {
  EXPECT_THAT(LiftText("__global__ void k(const float* x, float* y) {\n"
                       "int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i]; }"),
              HasSubstr("launch-extent"));
  EXPECT_THAT(Refusal1d("y[i] = x[threadIdx.x];"), HasSubstr("apart from the thread index"));
  EXPECT_THAT(Refusal1d("y[i] = x[i] * blockDim.x;"), HasSubstr("size of the launch"));
  EXPECT_THAT(LiftText("__global__ void k(const float* x, float* y, int n) {\n"
                       "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "if (x[i] > 0) y[i] = x[i]; }"),
              HasSubstr("launch-extent"));
}

TEST(LiftRefuses, PointersItLosesSightOf) {
  EXPECT_THAT(Refusal1d("const float* p = i < m ? x : y; y[i] = p[i];"),
              HasSubstr("different buffers"));
  EXPECT_THAT(Refusal1d("float4 v = reinterpret_cast<const float4*>(x)[i]; y[i] = v.x;"),
              StartsWith("refused: line 3: "));
  EXPECT_THAT(Refusal1d("float t[4]; t[0] = x[i]; y[i] = t[0];"), HasSubstr("local array"));
  EXPECT_THAT(Refusal1d("float v = x[i]; float* p = &v; *p = 2; y[i] = v;"),
              HasSubstr("address of v"));
  EXPECT_THAT(Refusal1d("const int* p = reinterpret_cast<const int*>(x); y[i] = p[i];"),
              HasSubstr("is used as"));
  EXPECT_THAT(LiftText("__device__ float total;\n__global__ void k(const float* x, int n) {\n"
                       "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "if (i < n) atomicAdd(&total, x[i]); }"),
              StartsWith("refused: line 4: "));
  EXPECT_THAT(Refusal1d("int at = atomicAdd((int*)y, 1); y[at] = x[i];"), StartsWith("refused: "));
  EXPECT_THAT(Refusal1d("y[i] = atomicAdd(y + i, 1.0f);"),
              HasSubstr("result of atomicAdd is used"));
}

// The two silent mistakes of an earlier prototype: a variable with two definitions taken for one,
// and a conditional store taken for an unconditional one.
TEST(LiftNeverMistakes, AVariableThatIsSetTwice) {
  EXPECT_EQ(Refusal1d("int at = i; float a = x[at]; at = m - 1 - i; y[i] = a + x[at];"),
            "Program  k(x, y, n, m)  par: i in [0, n)\n  Stage  y[i] = x[i] + x[-i + m - 1]\n");
  EXPECT_EQ(Refusal1d("int at = i; if (m > 3) at = 0; y[i] = x[at];"),
            "Program  k(x, y, n, m)  par: i in [0, n)\n  Stage  y[i] = x[m > 3 ? 0 : i]\n");
  EXPECT_EQ(
      Refusal1d("int at = 0; float s = 0; for (int c = 0; c < m; ++c) { s += x[at + i]; at += n; "
                "} y[i] = s;"),
      "Program  k(x, y, n, m)  par: i in [0, n)\n"
      "  Stage  fold  s = sum over c in [0, m) of x[i + c*n], from 0.0f\n  Stage  y[i] = s\n");
  EXPECT_THAT(Refusal1d("int at = 0; float s = 0; for (int c = 0; c < m; ++c) { s += x[at + i];\n"
                        "if (x[c] > 0) at += n; } y[i] = s;"),
              HasSubstr("refused: "))
      << "at moves only sometimes";
}

TEST(LiftNeverMistakes, AConditionalStore) {
  EXPECT_EQ(Refusal1d("float v = x[i]; if (v > 0) y[i] = v;"),
            "Program  k(x, y, n, m)  par: i in [0, n)\n"
            "  Stage  let v = x[i]\n  Stage  y[i] = v, if v > 0.0f\n");
  EXPECT_EQ(Refusal1d("if (i % 2 == 0) y[i] = x[i];"),
            "Program  k(x, y, n, m)  par: i in [0, n)\n  Stage  y[i] = x[i], if i % 2 == 0\n");
  EXPECT_EQ(Refusal1d("for (int c = 0; c < m; ++c) { if (c == i) continue; y[i * m + c] = x[c]; }"),
            "Program  k(x, y, n, m)  par: i in [0, n)\n"
            "  Stage  par c in [0, m):  y[i*m + c] = x[c], if c != i\n");
}

TEST(LiftNeverMistakes, LoadsStayBehindTheirGuard) {
  EXPECT_EQ(
      Refusal1d("float s = 0; for (int c = -1; c <= 1; ++c) { int at = i + c;\n"
                "if (at >= 0 && at < n) { float v = x[at]; if (v > 0) s += v; } } y[i] = s;"),
      "Program  k(x, y, n, m)  par: i in [0, n)\n"
      "  Stage  fold  s = sum over c in [0, 3) of x[i + c - 1], from 0.0f, if i + c - 1 >= 0 && "
      "i + c - 1 < n && x[i + c - 1] > 0.0f\n"
      "  Stage  y[i] = s\n");
}

TEST(LiftNeverMistakes, UnsignedComparisonsThatMeanTwoThings) {
  const std::string head =
      "__global__ void k(const float* x, float* y, int n) {\n"
      "int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  EXPECT_THAT(LiftText(head + "if ((unsigned)(i - 1) < (unsigned)(n - 2)) y[i] = x[i - 1]; }"),
              HasSubstr("launch-extent"))
      << "i = 0 is excluded by wrapping";
  EXPECT_EQ(LiftText(head + "if ((unsigned)i < (unsigned)n) y[i] = x[i]; }"),
            "Program  k(x, y, n)  par: i in [0, n)\n  Stage  y[i] = x[i]\n");
  EXPECT_THAT(Refusal1d("float s = 0; for (unsigned c = 0; c - 1 < m; ++c) s += x[c]; y[i] = s;"),
              HasSubstr("may wrap"));
}

TEST(LiftNeverMistakes, AFoldThatRanBeforeTheBranch) {
  EXPECT_EQ(Refusal1d("float s = 0; for (int c = 0; c < m; ++c) s += x[c];\n"
                      "float t = 0; if (m > 3) t = s; y[i] = t;"),
            "Program  k(x, y, n, m)  par: i in [0, n)\n"
            "  Stage  fold  s = sum over c in [0, m) of x[c], from 0.0f\n"
            "  Stage  y[i] = m > 3 ? s : 0.0f\n");
  EXPECT_EQ(
      Refusal1d("float s = 0; if (m > 3) { for (int c = 0; c < m; ++c) s += x[c]; } y[i] = s;"),
      "Program  k(x, y, n, m)  par: i in [0, n)\n"
      "  Stage  fold  s = sum over c in [0, m) of x[c], from 0.0f, if m > 3\n"
      "  Stage  y[i] = s\n");
}

TEST(LiftNeverMistakes, AConditionThatItsBranchOverwrites) {
  EXPECT_EQ(
      Refusal1d("if (y[i] > 0) { y[i] = -1; for (int c = 0; c < m; ++c) z[i * m + c] = x[c]; }",
                "const float* x, float* y, float* z, int n, int m"),
      "Program  k(x, y, z, n, m)  par: i in [0, n)\n"
      "  Stage  let condition = y[i] > 0.0f\n"
      "  Stage  y[i] = -1.0f, if condition\n"
      "  Stage  par c in [0, m):  z[i*m + c] = x[c], if condition\n");
}

TEST(LiftNeverMistakes, ValuesReadBeforeAStore) {
  EXPECT_EQ(Refusal1d("float old = y[i]; y[i] = x[i]; z[i] = old;",
                      "const float* x, float* y, float* z, int n"),
            "Program  k(x, y, z, n)  par: i in [0, n)\n"
            "  Stage  y[i] = x[i]; z[i] = old, where old = y[i]\n");
  EXPECT_EQ(Refusal1d("y[i] = x[i] * 2.0f; z[i] = y[i] + 1.0f;",
                      "const float* x, float* y, float* z, int n"),
            "Program  k(x, y, z, n)  par: i in [0, n)\n"
            "  Stage  y[i] = y_value; z[i] = y_value + 1.0f, where y_value = x[i] * 2.0f\n");
}

}  // namespace
}  // namespace optiml::rewrite
