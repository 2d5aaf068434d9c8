// A text must be the same program for every compiler that reads it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/frontend.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Empty when the text is accepted.
std::string Verdict(const std::string& text) {
  const auto outcome = ParseSource(KernelSource(text, "run", "kernel.cu"));
  if (!outcome.has_value()) {
    return "error: " + outcome.error().message();
  }
  const auto* refusal = std::get_if<Refusal>(&*outcome);
  return refusal == nullptr ? "" : refusal->reason;
}

struct Case {
  const char* name;
  const char* text;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class Harmless : public ::testing::TestWithParam<Case> {};
TEST_P(Harmless, IsAccepted) {
  EXPECT_THAT(Verdict(GetParam().text), IsEmpty());
}

const Case kHarmless[] = {
    {"NoQuestion",
     "__global__ void k(float* y) { y[0] = 1; }\nvoid run(float* y) { k<<<1, 1>>>(y); }"},
    {"HeadersForTheHost",
     "#ifndef __CUDACC_RTC__\n#include <cstdio>\n#endif\n__global__ void k(float* y) { y[0] = 1; "
     "}"},
    {"ArchitectureInDeviceCode",
     "__global__ void k(float* y) {\n#if __CUDA_ARCH__ >= 800\n  y[0] = 1;\n#else\n  y[0] = "
     "0;\n#endif\n}"},
    {"OwnDeviceFunctionForOldArchitectures",
     "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\n#else\n__device__ double add(double a) "
     "{ "
     "return a; }\n#endif\n__global__ void k(float* y) { y[0] = 1; }"},
    {"BothSidesThatTheLauncherDoesNotCall",
     "__host__ __device__ float one() {\n#ifdef __CUDA_ARCH__\n  return "
     "__int_as_float(0x3f800000);\n"
     "#else\n  return 1.0f;\n#endif\n}\n__global__ void k(float* y) { y[0] = one(); }\nvoid "
     "run(float* y) { k<<<1, 1>>>(y); }"},
    {"IncludeGuard",
     "#ifndef __KERNEL_CU__\n#define __KERNEL_CU__\n__global__ void k(float* y) { y[0] = "
     "1; }\n#endif"},
    {"ForeignSystems",
     "#ifdef __HIPCC__\n#include <hip/hip_runtime.h>\n#endif\n#ifdef _MSC_VER\n#define A "
     "1\n#else\n#define A 2\n#endif\n__global__ void k(float* y) { y[0] = A; }"},
    {"IsCuda",
     "#ifdef __CUDACC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif\nHD "
     "inline int f() { return 1; }\n__global__ void k(int* y) { y[0] = f(); }"},
    {"OwnSwitch",
     "#define FAST 1\n#if FAST\n__global__ void k(float* y) { y[0] = 1; }\n#endif\n#ifdef DEBUG\n"
     "int debug;\n#endif"},
    {"LineOfAMessage",
     "#define CHECK(x) do { if ((x) != cudaSuccess) printf(\"%s:%d\", __FILE__, __LINE__); } "
     "while (0)\n__global__ void k(float* y) {}\nvoid run(float* y) { CHECK(cudaGetLastError()); "
     "}"},
    {"Pragma",
     "#pragma GCC diagnostic ignored \"-Wunused\"\n__global__ void k(float* y) {\n#pragma "
     "unroll\n  for (int i = 0; i < 4; ++i) y[i] = 1;\n}"},
    {"SameOnBothSides",
     "#ifdef __clang__\n#define N 4\n#else\n#define N 4\n#endif\n__global__ void k(int* y) { y[0] "
     "= "
     "N; }"},
};
INSTANTIATE_TEST_SUITE_P(Table, Harmless, ::testing::ValuesIn(kHarmless),
                         [](const auto& test) { return std::string(test.param.name); });

class TwoPrograms : public ::testing::TestWithParam<Case> {};
TEST_P(TwoPrograms, AreRefused) {
  EXPECT_THAT(Verdict(GetParam().text), HasSubstr("depends on"));
}

const Case kTwoPrograms[] = {
    {"RightUnderNvrtc",
     "__global__ void k(float* y) {\n#ifdef __CUDACC_RTC__\n  y[0] = 1;\n#endif\n}"},
    {"WrongUnderNvcc", "__global__ void k(float* y) {\n#ifndef __NVCC__\n  y[0] = 1;\n#endif\n}"},
    {"LaunchesForClangOnly",
     "__global__ void k(float* y) {}\nvoid run(float* y) {\n#if defined(__clang__)\n  k<<<1, "
     "1>>>(y);\n#endif\n}"},
    {"VersionOfTheHostCompiler",
     "__global__ void k(float* y) {\n#if __GNUC__ > 4\n  y[0] = 1;\n#endif\n}"},
    {"LauncherByArchitecture",
     "__global__ void k(float* y) {}\nvoid run(float* y) {\n#ifdef __CUDA_ARCH__\n  k<<<1, "
     "1>>>(y);\n#endif\n}"},
    {"HelperByArchitecture",
     "__global__ void k(float* y) {}\n__host__ __device__ int blocks() {\n#ifdef __CUDA_ARCH__\n  "
     "return 1;\n#else\n  return 2;\n#endif\n}\nvoid run(float* y) { k<<<blocks(), 1>>>(y); }"},
    {"LauncherByVersion",
     "__global__ void k(float* y) {}\nvoid run(float* y) {\n#if __CUDACC_VER_BUILD__ == 0\n  "
     "k<<<1, 1>>>(y);\n#endif\n}"},
    {"ThroughAMacro",
     "#define WHO defined(__clang__)\n#if WHO\n#define V 1\n#else\n#define V 2\n#endif\n__global__ "
     "void k(float* y) { y[0] = V; }"},
    {"ValueInCode", "__global__ void k(float* y) { y[0] = __clang_major__; }"},
    {"Date", "__global__ void k(float* y) { y[0] = __DATE__[0] == 'J'; }"},
    {"HasInclude",
     "#if __has_include(<cublas_v2.h>)\n#define V 1\n#else\n#define V 2\n#endif\n__global__ void "
     "k(float* y) { y[0] = V; }"},
    {"DefinesItItself",
     "__global__ void k(float* y) {\n#ifndef __CUDACC_RTC__\n#define __CUDACC_RTC__\n#else\n  y[0] "
     "= 1;\n#endif\n}"},
    {"SplicedName",
     "__global__ void k(float* y) {\n#ifdef __CUDACC_\\\nRTC__\n  y[0] = 1;\n#endif\n}"},
    {"System", "__global__ void k(float* y) {\n#if linux\n  y[0] = 1;\n#endif\n}"},
    {"FileOnTheMachine",
     "#ifdef __CUDACC_RTC__\n#include \"/etc/hostname\"\n#endif\n__global__ void k(float* y) {}"},
};
INSTANTIATE_TEST_SUITE_P(Table, TwoPrograms, ::testing::ValuesIn(kTwoPrograms),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CompilerIdentity, TheRefusalNamesTheLineOfTheQuestion) {
  EXPECT_THAT(Verdict("\n__global__ void k(float* y) {\n#ifdef __NVCC__\n  y[0] = 1;\n#endif\n}"),
              HasSubstr("kernel.cu:3: the code depends on __NVCC__"));
}

TEST(CompilerIdentity, ANameIsNoLongerThanCompilersBear) {
  const auto text = [](size_t length) {
    return "__global__ void k(float* y) {}\n__global__ void " + std::string(length, 'a') + "() {}";
  };
  EXPECT_THAT(Verdict(text(4096)), IsEmpty());
  EXPECT_THAT(Verdict(text(4097)), HasSubstr("kernel.cu:2: a name is longer than 4096 characters"));
}

TEST(CompilerIdentity, NoTextMayAskForEverything) {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    text += "#ifdef __NVCC_" + std::to_string(i) + "__\n#endif\n";
  }
  EXPECT_THAT(Verdict(text), HasSubstr("asks for 30 properties of its compiler"));
}

}  // namespace
}  // namespace optiml
