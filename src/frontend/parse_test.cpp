// What ParseSource makes of kernels and launchers: trees, types, names, instances, refusals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/ast_format.h"
#include "frontend/frontend.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

ast::SourceUnit Parse(const std::string& text) {
  auto outcome = ParseSource(KernelSource(text, "run", "kernel.cu"));
  EXPECT_TRUE(outcome.has_value()) << outcome.error().message();
  if (const auto* refusal = std::get_if<Refusal>(&*outcome)) {
    ADD_FAILURE() << refusal->reason;
    return {};
  }
  return std::get<ast::SourceUnit>(std::move(*outcome));
}

std::string RefusalOf(const std::string& text) {
  auto outcome = ParseSource(KernelSource(text, "run", "kernel.cu"));
  EXPECT_TRUE(outcome.has_value());
  const auto* refusal = std::get_if<Refusal>(&*outcome);
  return refusal != nullptr ? refusal->reason : "parsed";
}

std::string Dump(const ast::SourceUnit& unit, const std::string& name) {
  const ast::Function* function = unit.FindFunction(name);
  return function != nullptr ? ast::Format(unit, *function) : "no function " + name;
}

TEST(ParseSource, KernelWithGuard) {
  const ast::SourceUnit unit = Parse(
      "__global__ void relu(const float* __restrict__ x, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;\n"
      "}\n");
  EXPECT_EQ(Dump(unit, "relu"),
            "kernel void relu(const float *__restrict x, float * y, int n)\n"
            "{\n"
            "  int i = <int>(((blockIdx.x * blockDim.x) + threadIdx.x))\n"
            "  if (i < n)\n"
            "    y[i] = ((x[i] > 0.0f) ? x[i] : 0.0f)\n"
            "}\n");
}

TEST(ParseSource, SaysWhereTheTextIsWrong) {
  EXPECT_EQ(RefusalOf("__global__ void k(float* x) {\n  x[0] = foo;\n}\n"),
            "kernel.cu:2: use of undeclared identifier 'foo'");
}

}  // namespace
}  // namespace optiml
