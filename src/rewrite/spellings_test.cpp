// Every rewrite of docs/rewrites.md on every spelling of its computation: the catalogue offers it,
// it applies, and what it emits parses and plans at every size. tests/rewrites runs what is
// emitted; refusals_test.cpp has what a rewrite must not be applied to.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "rewrite/spelled/spelled_kernels.h"

namespace optiml::rewrite::testing {
namespace {

struct SpelledCase {
  const SpelledEdit* edit = nullptr;
  const Spelling* spelling = nullptr;
};

std::vector<SpelledCase> AllCases() {
  std::vector<SpelledCase> cases;
  for (const SpelledEdit& edit : SpelledEdits()) {
    for (const Spelling& spelling : FindSpelledShape(edit.shape).spellings) {
      cases.push_back({&edit, &spelling});
    }
  }
  return cases;
}

class Spellings : public ::testing::TestWithParam<SpelledCase> {};

TEST_P(Spellings, AreOfferedTheRewriteAndGiveASourceThatPlans) {
  const SpelledEdit& edit = *GetParam().edit;
  const SpelledShape& shape = FindSpelledShape(edit.shape);
  const KernelCase kernel = CaseOf(shape, *GetParam().spelling);
  const Made made = Make(kernel);
  ASSERT_EQ(made.catalogue->Lifted().size(), 1u);
  ASSERT_TRUE(made.catalogue->Lifted()[0].lifted) << made.catalogue->Lifted()[0].detail;

  std::vector<Edit> before = edit.chain;
  before.pop_back();
  const std::vector<Edit> offered = made.catalogue->Propose(before, nullptr);
  EXPECT_TRUE(
      std::any_of(offered.begin(), offered.end(),
                  [&](const Edit& one) { return one.Label() == edit.chain.back().Label(); }))
      << edit.chain.back().Label() << " is not offered for\n"
      << made.catalogue->Lifted()[0].detail;

  const std::string text = made.Apply(edit.chain);
  EXPECT_NE(text, made.Apply(before)) << "nothing was changed";
  const ast::SourceUnit unit = Parse(KernelSource(text, kernel.entry, "emitted.cu"));
  EXPECT_FALSE(PlanOf(unit, kernel.entry, kernel.timed).Kernels().empty());
  for (const Sizes& sizes : shape.checked) {
    EXPECT_FALSE(PlanOf(unit, kernel.entry, ArgumentsAt(shape, sizes)).Kernels().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Rewrites, Spellings, ::testing::ValuesIn(AllCases()), [](const auto& one) {
  return one.param.edit->Name() + "_" + one.param.spelling->name;
});

TEST(SpelledEdits, GiveEveryPrimitiveSixSpellings) {
  constexpr size_t kLeast = 6;
  for (const SpelledShape& shape : SpelledShapes()) {
    std::set<std::string> names;
    std::set<std::string> texts;
    for (const Spelling& spelling : shape.spellings) {
      names.insert(spelling.name);
      texts.insert(spelling.text);
    }
    EXPECT_EQ(names.size(), shape.spellings.size()) << shape.name;
    EXPECT_EQ(texts.size(), shape.spellings.size()) << shape.name;
    EXPECT_GE(texts.size(), kLeast) << shape.name;
    EXPECT_GE(shape.checked.size(), 3u) << shape.name;
  }
  for (const Transformation& one : Transformations()) {
    const bool spelled =
        std::any_of(SpelledEdits().begin(), SpelledEdits().end(), [&](const SpelledEdit& edit) {
          return edit.chain.back().rewrite == one.name && edit.codes == one.code;
        });
    EXPECT_TRUE(spelled) << one.code << " " << one.name << " is tried on no spelling";
  }
}

}  // namespace
}  // namespace optiml::rewrite::testing
