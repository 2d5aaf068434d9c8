#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/frontend.h"

namespace optiml {
namespace {

SizeExpr Size(const std::string& text) {
  return *SizeExpr::Parse(text);
}

ArgSpec BufferArg(const std::string& name, DType dtype, const std::vector<std::string>& shape) {
  ArgSpec arg;
  arg.name = name;
  arg.is_buffer = true;
  arg.dtype = dtype;
  for (const std::string& extent : shape) {
    arg.shape.push_back(Size(extent));
  }
  arg.line = 12;
  return arg;
}

ArgSpec ScalarArg(const std::string& name, DType dtype) {
  ArgSpec arg;
  arg.name = name;
  arg.dtype = dtype;
  arg.line = 15;
  return arg;
}

KernelTask TaskOf(std::vector<ArgSpec> args) {
  KernelTask task;
  task.folder = "/tasks/t";
  task.args = std::move(args);
  return task;
}

std::string ErrorOf(const KernelTask& task, const SizeBindings& sizes,
                    const std::map<std::string, double>& scalars = {}) {
  auto bound = BindArguments(task, sizes, scalars);
  return bound.has_value() ? "bound" : bound.error().message();
}

TEST(BindArguments, GivesBuffersTheirBytesAndScalarsTheirValues) {
  ArgSpec n = ScalarArg("n", DType::kI32);
  n.is_size = true;
  ArgSpec eps = ScalarArg("eps", DType::kF32);
  eps.value = 0.25;
  ArgSpec alpha = ScalarArg("alpha", DType::kF64);
  alpha.fill.kind = FillKind::kUniform;
  alpha.fill.min_value = 0.5;
  const KernelTask task = TaskOf({BufferArg("x", DType::kF16, {"n", "m + 1"}), n, eps, alpha});
  const auto bound = BindArguments(task, {{"n", 10}, {"m", 4}});
  ASSERT_TRUE(bound.has_value()) << bound.error().message();
  ASSERT_EQ(bound->size(), 4u);
  EXPECT_TRUE((*bound)[0].is_buffer);
  EXPECT_EQ((*bound)[0].size_bytes, 100u);
  EXPECT_EQ(std::get<int64_t>((*bound)[1].value), 10);
  EXPECT_EQ(std::get<double>((*bound)[2].value), 0.25);
  EXPECT_EQ(std::get<double>((*bound)[3].value), 0.5);
}

TEST(BindArguments, ChosenScalarsComeFirst) {
  ArgSpec k = ScalarArg("k", DType::kI64);
  k.value = 3;
  const auto bound = BindArguments(TaskOf({k}), {}, {{"k", 9}});
  ASSERT_TRUE(bound.has_value());
  EXPECT_EQ(std::get<int64_t>((*bound)[0].value), 9);
}

TEST(BindArguments, NamesArgumentAndLineOfWhatDoesNotFit) {
  const KernelTask buffer = TaskOf({BufferArg("x", DType::kF32, {"n", "n"})});
  EXPECT_EQ(ErrorOf(buffer, {{"n", -1}}),
            "task.toml:12: argument \"x\": extent \"n\" is -1, which is negative");
  EXPECT_EQ(
      ErrorOf(buffer, {{"n", int64_t{1} << 31}}),
      "task.toml:12: argument \"x\": its size in bytes overflows at extent \"n\" = 2147483648 "
      "(at most 2^63-1 bytes)");
  EXPECT_THAT(ErrorOf(buffer, {}), ::testing::HasSubstr("task.toml:12: argument \"x\""));
  ArgSpec n = ScalarArg("n", DType::kI32);
  n.is_size = true;
  EXPECT_EQ(ErrorOf(TaskOf({n}), {{"n", 3000000000}}),
            "task.toml:15: argument \"n\": size 3000000000 does not fit i32");
  EXPECT_EQ(ErrorOf(TaskOf({n}), {}),
            "task.toml:15: argument \"n\": the row of sizes has no \"n\"");
  ArgSpec b = ScalarArg("b", DType::kU8);
  b.value = 256;
  EXPECT_EQ(ErrorOf(TaskOf({b}), {}), "task.toml:15: argument \"b\": value 256 does not fit u8");
  b.value = 1.5;
  EXPECT_EQ(ErrorOf(TaskOf({b}), {}), "task.toml:15: argument \"b\": value 1.5 does not fit u8");
}

}  // namespace
}  // namespace optiml
