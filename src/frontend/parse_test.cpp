// What ParseSource makes of kernels and launchers: trees, types, names, instances, ranges,
// refusals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "frontend/ast_format.h"
#include "frontend/frontend.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ast::SourceUnit Parse(const std::string& text) {
  auto outcome = ParseSource(KernelSource(text, "run", "kernel.cu"));
  EXPECT_TRUE(outcome.has_value()) << outcome.error().message();
  if (const auto* refusal = std::get_if<Refusal>(&*outcome)) {
    ADD_FAILURE() << refusal->reason;
    return {};
  }
  return std::get<ast::SourceUnit>(std::move(*outcome));
}

std::string Dump(const ast::SourceUnit& unit, const std::string& name) {
  const ast::Function* function = unit.FindFunction(name);
  return function != nullptr ? ast::Format(unit, *function) : "no function " + name;
}

const ast::Variable* FindVariable(const ast::SourceUnit& unit, const std::string& name) {
  for (const ast::Variable& variable : unit.variables) {
    if (variable.name == name) {
      return &variable;
    }
  }
  return nullptr;
}

// The statements of a kernel's body, one level of indentation taken off.
std::string Body(const std::string& statements) {
  const ast::SourceUnit unit = Parse(
      "#include <cuda_fp16.h>\n"
      "#define TWO 2\n"
      "#define ADD(a, b) ((a) + (b))\n"
      "#define LOOP _Pragma(\"unroll\") for\n"
      "enum Mode { kFast = 3, kSlow };\n"
      "constexpr int kTile = 16;\n"
      "struct Op { float b; __device__ float operator()(float a) const { return a + b; } };\n"
      "template <int N> __device__ float Sum(const float* p) { float s = 0; for (int i = 0; i < N; "
      "++i) s += p[i]; return s; }\n"
      "template <typename T> __device__ T Twice(T v) { return v + v; }\n"
      "__global__ void f(float* x, const float* y, int* z, __half* h, int n, unsigned u) {\n" +
      statements + "\n}\n");
  const ast::Function* function = unit.FindFunction("f");
  if (function == nullptr || function->body == nullptr) {
    return "no body";
  }
  std::string text;
  for (const ast::StmtPtr& child : function->body->children) {
    text += ast::Format(unit, *child);
  }
  return text;
}

struct Case {
  const char* name;
  const char* statements;
  const char* expected;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class Trees : public ::testing::TestWithParam<Case> {};

TEST_P(Trees, AreResolvedAndTyped) {
  EXPECT_EQ(Body(GetParam().statements), GetParam().expected);
}

const Case kTrees[] = {
    {"ThreadIndex", "int i = blockIdx.x * blockDim.x + threadIdx.x;",
     "int i = <int>(((blockIdx.x * blockDim.x) + threadIdx.x))\n"},
    {"WarpSize", "int lane = threadIdx.x % warpSize;",
     "int lane = <int>((threadIdx.x % <unsigned int>(warpSize)))\n"},
    {"ImplicitCasts", "x[0] = n; double d = x[1]; z[0] = d; bool b = n;",
     "x[0] = <float>(n)\ndouble d = <double>(x[1])\nz[0] = <int>(d)\nbool b = <bool>(n)\n"},
    {"ExplicitCasts", "x[0] = (float)n; z[0] = int(x[1]); z[1] = static_cast<int>(u);",
     "x[0] = (float)(n)\nz[0] = (int)(x[1])\nz[1] = (int)(u)\n"},
    {"LiteralsAsSpelled", "x[0] = 1e-5f + 0x1p-3f; x[1] = 2.; z[0] = 'a' + 0x10;",
     "x[0] = (1e-5f + 0x1p-3f)\nx[1] = <float>(2.)\nz[0] = (<int>(97) + 16)\n"},
    {"InfinityKeepsItsName", "x[0] = -INFINITY;", "x[0] = -INFINITY\n"},
    {"MacroValue", "x[0] = FLT_MAX; z[0] = INT_MAX;",
     "x[0] = 3.40282347e+38F\nz[0] = 2147483647\n"},
    {"MacroFunction", "z[0] = ADD(n, TWO);", "z[0] = (n + 2)\n"},
    {"Enumerator", "z[0] = kSlow;", "z[0] = <int>(4)\n"},
    {"SizeofIsFolded", "z[0] = sizeof(float4) + alignof(double);", "z[0] = <int>((16 + 8))\n"},
    {"ConstexprIsNamed", "z[0] = kTile * n;", "z[0] = (kTile * n)\n"},
    {"RowPointer", "const float* row = y + n * 4; x[0] = row[2] + *row; x[1] = (&y[1])[n];",
     "const float * row = (y + (n * 4))\nx[0] = (row[2] + (*row))\nx[1] = &y[1][n]\n"},
    {"VectorCast", "float4 v = reinterpret_cast<const float4*>(y)[n]; x[0] = v.x + v.w;",
     "float4 v = (const float4 *)(y)[n]\nx[0] = (v.x + v.w)\n"},
    {"MakeVector", "*reinterpret_cast<float2*>(x) = make_float2(1.f, 2.f);",
     "(*(float2 *)(x)) = make_float2(1.f, 2.f)\n"},
    {"CompoundAssignments", "x[n] += 2.f; z[0] <<= 1; u ^= 3u; z[1] %= n;",
     "x[n] += 2.f\nz[0] <<= 1\nu ^= 3\nz[1] %= n\n"},
    {"Increments", "int i = 0; ++i; i--; z[i++] = --n;", "int i = 0\n++i\ni--\nz[i++] = --n\n"},
    {"TernaryAndLogic", "x[0] = n > 2 && !(u == 3) || n < -1 ? 1.f : 0.f;",
     "x[0] = ((((n > 2) && !(u == <unsigned int>(3))) || (n < -1)) ? 1.f : 0.f)\n"},
    {"Bits", "z[0] = (n >> 3) & ~7 | (n ^ 1);", "z[0] = (((n >> 3) & ~7) | (n ^ 1))\n"},
    {"EarlyReturn", "if (n > 3) return; x[0] = 0;", "if (n > 3)\n  return\nx[0] = <float>(0)\n"},
    {"IfElse", "if (n) x[0] = 1.f; else { x[1] = 2.f; }",
     "if <bool>(n)\n  x[0] = 1.f\nelse\n  {\n    x[1] = 2.f\n  }\n"},
    {"GridStride", "for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = y[i];",
     "for (int i = <int>(threadIdx.x); (i < n); i += blockDim.x)\n  x[i] = y[i]\n"},
    {"ForWithoutParts", "for (;;) { if (n) break; else continue; }",
     "for (; ; )\n  {\n    if <bool>(n)\n      break\n    else\n      continue\n  }\n"},
    {"WhileAndDo", "while (n > 0) n /= 2; do n++; while (n < 5);",
     "while (n > 0)\n  n /= 2\ndo\n  n++\nwhile (n < 5)\n"},
    {"Unroll",
     "\n#pragma unroll\nfor (int i = 0; i < 4; ++i) x[i] = 0.f;\n#pragma unroll 8\nfor (int i = "
     "0; i < n; ++i) x[i] = 1.f;",
     "unroll for (int i = 0; (i < 4); ++i)\n  x[i] = 0.f\nunroll(8) for (int i = 0; (i < n); "
     "++i)\n  "
     "x[i] = 1.f\n"},
    {"UnrollInMacro", "LOOP (int i = 0; i < 4; ++i) x[i] = 0.f;",
     "unroll for (int i = 0; (i < 4); ++i)\n  x[i] = 0.f\n"},
    {"UnrollByConstant", "\n#pragma unroll kTile\nfor (int i = 0; i < 64; ++i) x[i] = 0.f;",
     "unroll(16) for (int i = 0; (i < 64); ++i)\n  x[i] = 0.f\n"},
    {"SwitchGroups", "switch (n) { case 1: case kFast: n = 2; break; default: n = 3; }",
     "switch n\n  case 1 3\n    n = 2\n    break\n  case default\n    n = 3\n"},
    {"SharedMemory",
     "__shared__ float s[kTile][kTile + 1]; extern __shared__ float d[]; s[1][2] = d[n];",
     "shared float[16][17] s\nextern shared float[] d\ns[1][2] = d[n]\n"},
    {"Intrinsics",
     "x[0] = __shfl_down_sync(0xffffffffu, x[1], 16) + __expf(y[0]) + fmaxf(y[1], 0.f) + max(n, "
     "3);",
     "x[0] = (((__shfl_down_sync(4294967295, x[1], <unsigned int>(16), 32) + __expf(y[0])) + "
     "fmaxf(y[1], 0.f)) + <float>(max(n, 3)))\n"},
    {"AtomicsAndBarriers", "__syncthreads(); atomicAdd(&x[n], 1.f); __syncwarp();",
     "__syncthreads()\natomicAdd(&x[n], 1.f)\n__syncwarp(4294967295)\n"},
    {"HalfIsArithmetic",
     "__half a = h[0] * h[1]; a += h[2]; float g = a; h[3] = g; h[4] = __float2half(g);",
     "__half a = (h[0] * h[1])\na += h[2]\nfloat g = <float>(a)\nh[3] = g\nh[4] = "
     "__float2half(g)\n"},
    {"HelperInstances", "x[0] = Sum<8>(y) + Twice(y[1]);", "x[0] = (Sum<8>(y) + Twice(y[1]))\n"},
    {"Functor", "Op op{2.f}; x[0] = op(y[0]);", "Op op = {2.f}\nx[0] = op.operator()(y[0])\n"},
    {"Lambda", "auto sq = [](float v) { return v * v; }; x[0] = sq(y[0]);",
     "(lambda at /optiml/source.cu:11:11) sq = lambda[]\nx[0] = sq.operator()(y[0])\n"},
    {"InlineAssembly", "asm volatile(\"mov.u32 %0, 1;\" : \"=r\"(u));", "asm\n"},
    {"LocalArrays", "float a[4] = {1.f, 2.f}; int b[2]; b[0] = 0; x[0] = a[b[0]];",
     "float[4] a = {1.f, 2.f}\nint[2] b\nb[0] = 0\nx[0] = a[b[0]]\n"},
    {"RangeForIsKeptAsText", "int a[2] = {1, 2}; for (int v : a) n += v;",
     "int[2] a = {1, 2}\nunsupported<range-based for>\n"},
    {"Comma", "int i, j; for (i = 0, j = n; i < j; ++i, --j) x[i] = y[j];",
     "int i\nint j\nfor ((i = 0 , j = n); (i < j); (++i , --j))\n  x[i] = y[j]\n"},
};

INSTANTIATE_TEST_SUITE_P(Table, Trees, ::testing::ValuesIn(kTrees),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ParseSource, DescribesAKernelWhole) {
  const ast::SourceUnit unit = Parse(
      "extern \"C\" __global__ void __launch_bounds__(256, 2)\n"
      "relu(const float* __restrict__ x, float* y, int n) {\n"
      "  int i = threadIdx.x;\n"
      "}\n");
  EXPECT_EQ(
      Dump(unit, "relu"),
      "extern C kernel bounds(256, 2) void relu(const float *__restrict x, float * y, int n)\n"
      "{\n"
      "  int i = <int>(threadIdx.x)\n"
      "}\n");
  const ast::Function& kernel = *unit.FindFunction("relu");
  EXPECT_TRUE(kernel.is_kernel);
  EXPECT_FALSE(kernel.is_host);
  EXPECT_EQ(kernel.line, 2);
  EXPECT_EQ(kernel.end_line, 4);
  EXPECT_EQ(kernel.range.begin, 0u);
  EXPECT_EQ(unit.text.substr(kernel.range.begin, kernel.range.end - kernel.range.begin) + "\n",
            unit.text);
}

TEST(ParseSource, MakesOneFunctionOfEachInstanceThatIsUsed) {
  const ast::SourceUnit unit = Parse(
      "namespace ops {\n"
      "template <typename T, int B, bool V = true>\n"
      "__global__ void __launch_bounds__(B) reduce(const T* x, T* y) {\n"
      "  __shared__ T s[B];\n"
      "  if constexpr (V) s[0] = x[B]; else s[1] = 0;\n"
      "}\n"
      "}\n"
      "void run(const float* x, float* y, int n) {\n"
      "  if (n > 100) ops::reduce<float, 256><<<1, 256>>>(x, y);\n"
      "  else ops::reduce<float, 32, false><<<1, 32>>>(x, y);\n"
      "}\n");
  std::vector<std::string> names;
  for (const ast::Function& function : unit.functions) {
    names.push_back(function.name_expression);
  }
  EXPECT_THAT(names, ElementsAre("ops::reduce", "run", "ops::reduce<float, 256, true>",
                                 "ops::reduce<float, 32, false>"));
  EXPECT_TRUE(unit.functions[0].is_template);
  EXPECT_THAT(unit.functions[0].template_parameters,
              ElementsAre("typename T", "int B", "bool V = true"));
  EXPECT_EQ(unit.functions[0].body, nullptr);
  EXPECT_TRUE(unit.functions[2].is_template_instance);
  EXPECT_EQ(unit.functions[2].template_arguments, "<float, 256, true>");
  EXPECT_EQ(Dump(unit, "ops::reduce<float, 256, true>"),
            "kernel bounds(256) void ops::reduce<float, 256, true>(const float * x, float * y)\n"
            "{\n"
            "  shared float[256] s\n"
            "  s[0] = x[256]\n"
            "}\n");
  EXPECT_EQ(Dump(unit, "ops::reduce<float, 32, false>"),
            "kernel bounds(32) void ops::reduce<float, 32, false>(const float * x, float * y)\n"
            "{\n"
            "  shared float[32] s\n"
            "  s[1] = <float>(0)\n"
            "}\n");
}

TEST(ParseSource, ListsExplicitInstancesAndSpecialisations) {
  const ast::SourceUnit unit = Parse(
      "template <typename T> __global__ void k(T* x) { x[0] = 1; }\n"
      "template __global__ void k<double>(double*);\n"
      "template <> __global__ void k<int>(int* x) { x[0] = 2; }\n");
  ASSERT_NE(unit.FindFunction("k<double>"), nullptr);
  ASSERT_NE(unit.FindFunction("k<int>"), nullptr);
  EXPECT_EQ(unit.FindFunction("k<int>")->line, 3);
}

TEST(ParseSource, LaunchCarriesConfigurationAndArguments) {
  const ast::SourceUnit unit = Parse(
      "__global__ void k(float* x, int n) {}\n"
      "extern \"C\" void run(float* x, int n) {\n"
      "  dim3 grid(n, 2);\n"
      "  k<<<grid, 128>>>(x, n);\n"
      "  k<<<n, dim3(8, 8), 64>>>(x + 1, 3);\n"
      "}\n");
  EXPECT_EQ(Dump(unit, "run"),
            "extern C host void run(float * x, int n)\n"
            "{\n"
            "  dim3 grid = dim3(<unsigned int>(n), <unsigned int>(2))\n"
            "  k<<<grid, dim3(<unsigned int>(128)), <unsigned long>(0), null>>>(x, n)\n"
            "  k<<<dim3(<unsigned int>(n)), dim3(<unsigned int>(8), <unsigned int>(8)), <unsigned "
            "long>(64), null>>>((x + 1), 3)\n"
            "}\n");
}

TEST(ParseSource, VariablesKnowStorageAndConstants) {
  const ast::SourceUnit unit = Parse(
      "constexpr int kA = 3 * 4;\n"
      "const int kB = kA + 1;\n"
      "__constant__ float c_w[kB];\n"
      "__device__ int d_count;\n"
      "static int calls = 2;\n"
      "__global__ void k(int n) { const int local = 7; static __shared__ float s[kA]; }\n");
  EXPECT_EQ(FindVariable(unit, "kA")->constant, 12);
  EXPECT_TRUE(FindVariable(unit, "kA")->is_constexpr);
  EXPECT_EQ(FindVariable(unit, "kB")->constant, 13);
  EXPECT_EQ(FindVariable(unit, "c_w")->storage, ast::Storage::kConstant);
  EXPECT_EQ(FindVariable(unit, "c_w")->type->count, 13);
  EXPECT_EQ(FindVariable(unit, "d_count")->storage, ast::Storage::kDeviceGlobal);
  EXPECT_EQ(FindVariable(unit, "calls")->storage, ast::Storage::kHostGlobal);
  EXPECT_FALSE(FindVariable(unit, "calls")->constant.has_value());
  EXPECT_EQ(FindVariable(unit, "n")->storage, ast::Storage::kParameter);
  EXPECT_EQ(FindVariable(unit, "local")->constant, 7);
  EXPECT_EQ(FindVariable(unit, "s")->storage, ast::Storage::kShared);
}

TEST(ParseSource, TypesAreResolved) {
  const ast::SourceUnit unit = Parse(
      "#include <cuda_bf16.h>\n"
      "#include <cstdint>\n"
      "typedef float real;\n"
      "struct Node { int id; Node* next; float v[3]; };\n"
      "__global__ void k(const real* __restrict__ x, uint8_t b, size_t s, float4 v, __nv_bfloat16* "
      "h,\n"
      "                  Node node, dim3 d, bool flag, const int& r) {}\n"
      "void host(cudaStream_t stream) {}\n");
  const auto type = [&](const char* name) { return *FindVariable(unit, name)->type; };
  EXPECT_EQ(type("x").kind, ast::TypeKind::kPointer);
  EXPECT_TRUE(type("x").is_restrict);
  EXPECT_TRUE(type("x").element->is_const);
  EXPECT_EQ(type("x").element->text, "const float");
  EXPECT_EQ(type("b").bits, 8);
  EXPECT_FALSE(type("b").is_signed);
  EXPECT_EQ(type("s").text, "unsigned long");
  EXPECT_EQ(type("v").kind, ast::TypeKind::kVector);
  EXPECT_EQ(type("v").count, 4);
  EXPECT_EQ(type("v").size_bytes, 16u);
  EXPECT_EQ(type("v").element->kind, ast::TypeKind::kFloat);
  EXPECT_TRUE(type("h").element->is_bfloat);
  EXPECT_EQ(type("h").element->bits, 16);
  EXPECT_EQ(type("node").kind, ast::TypeKind::kStruct);
  EXPECT_EQ(type("node").size_bytes, 32u);
  ASSERT_EQ(type("node").fields.size(), 3u);
  EXPECT_EQ(type("node").fields[2].name, "v");
  EXPECT_EQ(type("node").fields[2].offset_bytes, 16u);
  EXPECT_EQ(type("d").kind, ast::TypeKind::kDim3);
  EXPECT_EQ(type("flag").kind, ast::TypeKind::kBool);
  EXPECT_TRUE(type("r").is_reference);
  EXPECT_EQ(type("stream").kind, ast::TypeKind::kOther);
  EXPECT_EQ(type("stream").text, "cudaStream_t");
}

TEST(ParseSource, RangesPointIntoTheTextAndKnowMacros) {
  const ast::SourceUnit unit = Parse(
      "#define N 32\n"
      "#define AT(i) x[i]\n"
      "__global__ void k(float* x) {\n"
      "  x[1] = 2.0f * x[2];\n"
      "  x[N] = 1.0f;\n"
      "  AT(3) = 4.0f;\n"
      "}\n");
  const auto& statements = unit.FindFunction("k")->body->children;
  const auto text = [&](const ast::TextRange& range) {
    return unit.text.substr(range.begin, range.end - range.begin);
  };
  EXPECT_EQ(text(statements[0]->expr->range), "x[1] = 2.0f * x[2]");
  EXPECT_EQ(text(statements[0]->expr->operands[1]->operands[1]->range), "x[2]");
  EXPECT_FALSE(statements[0]->range.in_macro);
  EXPECT_EQ(text(statements[1]->expr->range), "x[N] = 1.0f");
  EXPECT_TRUE(statements[1]->range.in_macro);
  EXPECT_FALSE(statements[1]->expr->operands[1]->range.in_macro);
  EXPECT_EQ(text(statements[2]->expr->operands[0]->range), "AT(3)");
  EXPECT_TRUE(statements[2]->expr->operands[0]->range.in_macro);
  EXPECT_EQ(statements[2]->line, 6);
  EXPECT_FALSE(unit.FindFunction("k")->range.in_macro);
}

TEST(ParseSource, StandardHeadersNeedNoMachine) {
  const ast::SourceUnit unit = Parse(
      "#include <cuda_runtime.h>\n#include <cuda.h>\n#include <cmath>\n#include <math.h>\n"
      "#include <cstdio>\n#include <stdio.h>\n#include <cstdlib>\n#include <stdint.h>\n"
      "#include <cstdint>\n#include <algorithm>\n#include <cassert>\n#include <float.h>\n"
      "#include <climits>\n#include <limits>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
      "#include <iostream>\n#include <vector>\n#include <string>\n#include <type_traits>\n"
      "__global__ void k(float* x) { assert(x != nullptr); x[0] = std::max(1.f, std::sqrt(2.f)); "
      "}\n"
      "void run() { std::vector<int> v(3); std::cout << v[0] << std::endl; }\n");
  EXPECT_NE(unit.FindFunction("k"), nullptr);
}

TEST(ParseSource, SaysWhereTheTextIsWrong) {
  const auto refusal = [](const std::string& text) {
    auto outcome = ParseSource(KernelSource(text, "run", "kernel.cu"));
    const auto* found = outcome.has_value() ? std::get_if<Refusal>(&*outcome) : nullptr;
    return found != nullptr ? found->reason : "parsed";
  };
  EXPECT_EQ(refusal("__global__ void k(float* x) {\n  x[0] = foo;\n}\n"),
            "kernel.cu:2: use of undeclared identifier 'foo'");
  EXPECT_EQ(refusal("__global__ void k(float* x) {\n\n  x[0] = 1\n}\n"),
            "kernel.cu:3: expected ';' after expression");
  EXPECT_EQ(refusal("\n#include <no/such.h>\n"), "kernel.cu:2: 'no/such.h' file not found");
  EXPECT_EQ(refusal("#include \"/etc/hostname\"\n"), "kernel.cu:1: '/etc/hostname' file not found");
  EXPECT_EQ(refusal("void h();\n__global__ void k() {\n  h();\n}\n"),
            "kernel.cu:3: no matching function for call to 'h'");
  EXPECT_EQ(refusal("__global__ int k() { return 1; }\n"),
            "kernel.cu:1: kernel function type 'int ()' must have void return type");
  EXPECT_THAT(refusal("__global__ void k() { a; b; c; }\n"), HasSubstr("(and 2 more)"));
}

TEST(ParseSource, EndlessNestingIsNotFollowed) {
  std::string sum = "x[0] = 1.f";
  for (int i = 0; i < 3000; ++i) {
    sum += "+1.f";
  }
  std::string chain;
  for (int i = 0; i < 1200; ++i) {
    chain += "if (n > " + std::to_string(i) + ") x[1] = 1.f; else ";
  }
  const ast::SourceUnit unit =
      Parse("__global__ void k(float* x, int n) { " + sum + "; " + chain + "; }\n");
  const auto& statements = unit.FindFunction("k")->body->children;
  ast::ExprPtr expr = statements[0]->expr->operands[1];
  while (!expr->operands.empty()) {
    expr = expr->operands[0];
  }
  EXPECT_EQ(expr->name, "nesting beyond 1000 levels");
  ast::StmtPtr stmt = statements[1];
  while (stmt->kind == ast::StmtKind::kIf) {
    stmt = stmt->children.back();
  }
  EXPECT_EQ(stmt->name, "nesting beyond 1000 levels");
  auto outcome = ParseSource(KernelSource(std::string((1 << 20) + 1, ' '), "run", "kernel.cu"));
  EXPECT_EQ(std::get<Refusal>(*outcome).reason,
            "kernel.cu: the file has 1048577 bytes (at most 1048576)");
}

TEST(ParseSource, FallsBackToCudasHeaders) {
  const std::string cuda = "/usr/local/cuda/include";
  if (!std::filesystem::exists(cuda + "/cuda_runtime.h") ||
      !std::filesystem::exists("/usr/include/c++")) {
    GTEST_SKIP() << "needs CUDA's headers and libstdc++";
  }
  const KernelSource source(
      "#include <vector>\n"
      "__global__ void k(cudaTextureObject_t t, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = tex1Dfetch<float>(t, i);\n"
      "}\n",
      "run", "kernel.cu");
  EXPECT_TRUE(std::holds_alternative<Refusal>(*ParseSource(source)));
  auto outcome = ParseSource(source, {cuda});
  ASSERT_TRUE(outcome.has_value());
  ASSERT_TRUE(std::holds_alternative<ast::SourceUnit>(*outcome))
      << std::get<Refusal>(*outcome).reason;
  EXPECT_EQ(Dump(std::get<ast::SourceUnit>(*outcome), "k"),
            "kernel void k(unsigned long long t, float * y, int n)\n"
            "{\n"
            "  int i = <int>(((blockIdx.x * blockDim.x) + threadIdx.x))\n"
            "  if (i < n)\n"
            "    y[i] = tex1Dfetch<float>(t, i)\n"
            "}\n");
}

TEST(ParseSource, ParsesTheSameInManyThreads) {
  const std::string text = "__global__ void k(float* x, int n) { if (n > 0) x[n] = 1.f; }\n";
  const std::string expected = Dump(Parse(text), "k");
  std::vector<std::thread> threads;
  std::vector<std::string> got(4);
  for (size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] { got[i] = Dump(Parse(text), "k"); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(got, ::testing::Each(expected));
}

TEST(DeviceText, BlanksWhatOnlyTheHostNeedsAndKeepsLines) {
  const ast::SourceUnit unit = Parse(
      "#include <vector>\n"
      "#define BLOCK 64\n"
      "static int calls = 0;\n"
      "const int kSize = 4;\n"
      "std::vector<float> cache;\n"
      "static inline int Ceil(int a,\n"
      "                       int b) { return a / b; }\n"
      "constexpr int Half(int a) { return a / 2; }\n"
      "template <typename T>\n"
      "void Host(T) {}\n"
      "__host__ __device__ int Both(int a) { return a; }\n"
      "struct Timer { std::vector<int> laps; };\n"
      "struct Pair { int a; int Sum() const { return a; } __device__ int Twice() { return 2 * a; } "
      "};\n"
      "__global__ void k(float* x) { x[0] = Half(kSize) + Both(1); }\n"
      "void Declared(int a);\n"
      "extern \"C\" void run(float* x) {\n"
      "#define INSIDE 3\n"
      "  k<<<1, INSIDE>>>(x);\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 2; ++i) calls++;\n"
      "}\n"
      "__global__ void after(int* y) { y[0] = INSIDE; }\n");
  const auto blank = [](size_t n) { return std::string(n, ' '); };
  EXPECT_EQ(unit.device_text,
            "#include <vector>\n"
            "#define BLOCK 64\n" +
                blank(21) + "\n" + "const int kSize = 4;\n" + blank(25) + "\n" + blank(29) + "\n" +
                blank(47) + "\n" +
                "__host__ __device__ constexpr int Half(int a) { return a / 2; }\n" + blank(21) +
                "\n" + blank(15) + "\n" + "__host__ __device__ int Both(int a) { return a; }\n" +
                blank(40) + "\n" + "struct Pair { int a; " + blank(29) +
                " __device__ int Twice() { return 2 * a; } };\n" +
                "__global__ void k(float* x) { x[0] = Half(kSize) + Both(1); }\n" + blank(21) +
                "\n" + blank(31) + "\n" + "#define INSIDE 3\n" + blank(22) + "\n" + blank(14) +
                "\n" + blank(38) + "\n" + blank(1) + "\n" +
                "__global__ void after(int* y) { y[0] = INSIDE; }\n");
}

TEST(DeviceText, BlanksFriendsOfTheHostAndNamespacesInsideOfStd) {
  const std::string text =
      "namespace std { namespace chrono { struct clock { int now; }; } }\n"
      "using namespace std::chrono;\n"
      "typedef std::chrono::clock ticks;\n"
      "using namespace std;\n"
      "struct P {\n"
      "  float a;\n"
      "  friend bool operator!=(const P& x, const P& y) { return x.a > y.a || y.a > x.a; }\n"
      "  __device__ friend float sum(const P& x) { return x.a; }\n"
      "  friend constexpr int two(const P&) { return 2; }\n"
      "};\n"
      "__global__ void k(P* p) { p[0].a = sum(p[1]) + two(p[1]); }\n";
  const std::string device = Parse(text).device_text;
  EXPECT_EQ(std::count(device.begin(), device.end(), '\n'), 11);
  EXPECT_THAT(device, Not(HasSubstr("using namespace std::chrono")));
  EXPECT_THAT(device, Not(HasSubstr("ticks")));
  EXPECT_THAT(device, HasSubstr("using namespace std;"));
  EXPECT_THAT(device, Not(HasSubstr("operator!=")));
  EXPECT_THAT(device, HasSubstr("__device__ friend float sum"));
  EXPECT_THAT(device, HasSubstr("friend constexpr int two(const P&) { return 2; }"));
}

TEST(DeviceText, KeepsAFileWithoutHostCode) {
  const std::string text = "__device__ float g(float a) { return a; }\n__global__ void k() {}\n";
  EXPECT_EQ(Parse(text).device_text, text);
}

TEST(DeviceText, HasNoByteOrderMark) {
  const std::string text = "__global__ void k() {}\n";
  EXPECT_EQ(Parse("\xEF\xBB\xBF" + text).device_text, "   " + text);
}

TEST(DeviceText, KeepsADirectiveThatIsContinuedOverWindowsLines) {
  const ast::SourceUnit unit = Parse(
      "extern \"C\" void run() {\r\n#define TWO \\\r\n  2\r\n}\r\n"
      "__global__ void k(int* y) { y[0] = TWO; }\r\n");
  EXPECT_NE(unit.device_text.find("#define TWO \\\r\n  2"), std::string::npos) << unit.device_text;
}

TEST(Headers, ThoseThatAreIncludedOutOfHabitNeedNotBeThere) {
  std::string includes = "#include <cub/cub.cuh>\n";
  for (const char* name : {"atomic", "chrono", "complex", "fstream", "functional", "iterator",
                           "map", "memory", "optional", "random", "set", "tuple", "variant"}) {
    includes += "#include <" + std::string(name) + ">\n";
  }
  const std::string kernel = "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n";
  EXPECT_THAT(Dump(Parse(includes + kernel), "k"), HasSubstr("x[threadIdx.x]"));
  // What uses them does not pass for something else.
  for (const char* use : {"std::function<int()> f;", "std::map<int, int> m;", "std::mt19937 g;",
                          "cub::BlockReduce<int, 32>* r;", "std::optional<int> o;"}) {
    const auto outcome =
        ParseSource(KernelSource(includes + kernel + use + "\n", "k", "kernel.cu"));
    EXPECT_TRUE(std::holds_alternative<Refusal>(*outcome)) << use;
  }
}

TEST(Pragmas, AnUnrollThatNoLoopFollowsIsAWarningAsForNvcc) {
  const std::string text =
      "#define FEW 4\n"
      "template <int N> __device__ float Sum(const float* p) {\n  float s = 0;\n"
      "#pragma unroll FEW\n  {\n    s += p[0];\n  }\n"
      "  #  pragma unroll\r\n  for (int i = 0; i < N; ++i) s += p[i];\n  return s;\n}\n"
      "__global__ void k(float* x, int n) {\n"
      "#pragma nounroll  // nothing to unroll\n"
      "  x[0] = 1;\n"
      "#pragma unroll 3\n"
      "  while (n > 0) x[--n] = Sum<3>(x);\n"
      "#pragma unroll\n"
      "  if (n == 0) x[1] = 2;\n"
      "}\n";
  const ast::SourceUnit unit = Parse(text);
  EXPECT_THAT(Dump(unit, "k"), HasSubstr("unroll(3) while"));
  EXPECT_THAT(Dump(unit, "k"), HasSubstr("x[1]"));
  EXPECT_THAT(Dump(unit, "Sum<3>"), HasSubstr("unroll for"));
  EXPECT_EQ(unit.text.size(), text.size());
  EXPECT_EQ(unit.FindFunction("k")->line, 12);
  // Other misplaced words stay errors.
  const auto outcome = ParseSource(
      KernelSource("__global__ void k() {\n#pragma unroll\n  x = 1;\n}\n", "k", "kernel.cu"));
  EXPECT_THAT(std::get<Refusal>(*outcome).reason, HasSubstr("kernel.cu:3: use of undeclared"));
}

TEST(FindLauncher, ListsParameters) {
  const ast::SourceUnit unit =
      Parse("extern \"C\" void run(const float* x,\n  float* y, int rows) {}\nvoid other() {}\n");
  const auto found = FindLauncher(unit, "run");
  const auto& parameters = std::get<std::vector<LauncherParameter>>(found);
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[0].name, "x");
  EXPECT_EQ(parameters[0].type->text, "const float *");
  EXPECT_EQ(parameters[1].line, 2);
}

TEST(FindLauncher, NamesTheHostFunctionsWhenThereIsNone) {
  const ast::SourceUnit unit =
      Parse("__global__ void k() {}\nvoid a() {}\nvoid b() {}\nvoid a(int) {}\n");
  EXPECT_EQ(std::get<Refusal>(FindLauncher(unit, "k")).reason,
            "kernel.cu: there is no host function \"k\" (host functions: a, b, a)");
  EXPECT_EQ(std::get<Refusal>(FindLauncher(unit, "a")).reason,
            "kernel.cu:4: there is more than one host function \"a\"");
}

}  // namespace
}  // namespace optiml
