#include "cli/task_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_toolbox.h"
#include "verify/prepare.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

TEST(TaskOptions, SurviveTheWayThroughTheStore) {
  CommandLine line;
  TaskOptions options;
  options.entry = "copy";
  options.checked = {"n=1", "n=33"};
  options.timed = {"n=4096"};
  options.args = {"x=f32[n]:in:normal"};
  options.description = "a100";
  options.threads = 3;
  options.unconfined = true;
  const auto values = FormatTaskOptions(options, line.env);
  EXPECT_EQ(values.at("checked"), "n=1\nn=33");
  const auto back = ParseTaskOptions(values);
  ASSERT_TRUE(back);
  EXPECT_EQ(FormatTaskOptions(*back, line.env), values);
  EXPECT_EQ(back->checked, options.checked);
  EXPECT_TRUE(back->unconfined);
}

TEST(TaskOptions, DescriptionFilesBecomeAbsoluteAndNamesStay) {
  CommandLine line;
  line.Write("mine.toml", "");
  TaskOptions options;
  options.description = "mine.toml";
  EXPECT_EQ(FormatTaskOptions(options, line.env).at("device-description"),
            line.Path("mine.toml").string());
  options.description = "h200";
  EXPECT_EQ(FormatTaskOptions(options, line.env).at("device-description"), "h200");
}

TEST(MakeOverrides, NamesTheFlagThatIsWrong) {
  TaskOptions options;
  options.args = {"f32[n]"};
  EXPECT_THAT(MakeOverrides(options).error().message(), HasSubstr("--arg"));
  options.args = {"x=f32[n]", "x=f32[m]"};
  EXPECT_THAT(MakeOverrides(options).error().message(), HasSubstr("x is given twice"));
  options.args.clear();
  options.timed = {"n=many"};
  EXPECT_THAT(MakeOverrides(options).error().message(), HasSubstr("--timed"));
}

TEST(LauncherFacts, PointersAndScalarsGetTheirDTypes) {
  auto scalar = std::make_shared<ast::Type>();
  scalar->kind = ast::TypeKind::kFloat;
  scalar->bits = 16;
  scalar->is_bfloat = true;
  scalar->is_const = true;
  auto pointer = std::make_shared<ast::Type>();
  pointer->kind = ast::TypeKind::kPointer;
  pointer->element = scalar;
  auto size = std::make_shared<ast::Type>();
  size->kind = ast::TypeKind::kInt;
  size->bits = 64;
  auto nothing = std::make_shared<ast::Type>();
  auto opaque = std::make_shared<ast::Type>();
  opaque->kind = ast::TypeKind::kPointer;
  opaque->element = nothing;
  const auto facts = FactsOf({{"x", pointer, 3}, {"n", size, 4}, {"p", opaque, 5}});
  ASSERT_EQ(facts.size(), 3u);
  EXPECT_TRUE(facts[0].is_pointer);
  EXPECT_TRUE(facts[0].points_to_const);
  EXPECT_EQ(facts[0].dtype, DType::kBf16);
  EXPECT_EQ(facts[0].line, 3);
  EXPECT_FALSE(facts[1].is_pointer);
  EXPECT_EQ(facts[1].dtype, DType::kU64);
  EXPECT_TRUE(facts[2].is_pointer);
  EXPECT_EQ(facts[2].dtype, std::nullopt);
}

}  // namespace
}  // namespace optiml
