#include "generate/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

GeneratedTask Make(const char* name, const SizeBindings& sizes = {}) {
  static const ContractLibrary library = *ContractLibrary::Load();
  auto request = ParseOperator(library, name);
  EXPECT_TRUE(request) << request.error().message();
  request->sizes = sizes;
  auto task = MakeTask(*request, {"say \"it\"\n", "operator library"});
  EXPECT_TRUE(task) << task.error().message();
  return task ? *std::move(task) : GeneratedTask();
}

TEST(FillHoles, FillsNestedHolesAndArguments) {
  const Holes holes = {{"a", "1{{b}}"}, {"b", "2"}, {"load", "f($)"}, {"self", "{{self}}"}};
  EXPECT_EQ(FillHoles("{{a}} {{load:x[{{b}}]}} {{c}}", holes), "12 f(x[2]) {{c}}");
  EXPECT_EQ(FillHoles("{{", holes), "{{");
  EXPECT_EQ(FillHoles("{{self}}", holes), "{{self}}");  // and ends
}

TEST(TomlString, QuotesEverything) {
  EXPECT_EQ(TomlString("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000ad\"");
}

TEST(MakeTask, SizesAndDtypeAreInTheFiles) {
  const GeneratedTask task = Make("softmax:kind=softmax,dtype=f16", {{"rows", 77}});
  EXPECT_EQ(task.name, "softmax");
  EXPECT_THAT(task.files.at("task.toml"), HasSubstr("rows = 77, cols = 8192"));
  EXPECT_THAT(task.files.at("task.toml"), HasSubstr("dtype = \"f16\""));
  EXPECT_THAT(task.files.at("task.toml"), HasSubstr("intent    = \"say \\\"it\\\"\\u000a\""));
  EXPECT_THAT(task.files.at("kernel.cu"), HasSubstr("#include <cuda_fp16.h>"));
  EXPECT_THAT(task.files.at("kernel.cu"), HasSubstr("__half2float(x[r * cols + c])"));
}

TEST(MakeTask, OnlyTheChosenLinesAreKept) {
  EXPECT_THAT(Make("affine:op=scale").files.at("task.toml"), HasSubstr("alpha"));
  EXPECT_THAT(Make("affine:op=scale").files.at("task.toml"), Not(HasSubstr("beta")));
  EXPECT_THAT(Make("affine:op=both").files.at("task.toml"), HasSubstr("beta"));
}

TEST(MakeTask, ASizeOfAnotherOperatorIsRefused) {
  const ContractLibrary library = *ContractLibrary::Load();
  auto request = ParseOperator(library, "softmax:kind=softmax");
  ASSERT_TRUE(request);
  request->sizes = {{"bins", 3}};
  const auto task = MakeTask(*request, {});
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().message(), "softmax has no size \"bins\" (its sizes: rows, cols)");
}

}  // namespace
}  // namespace optiml
