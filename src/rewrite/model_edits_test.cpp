#include "rewrite/model_edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml::rewrite {
namespace {

using ::testing::HasSubstr;

const KernelSource kSource("int a = 1;\nint b = 1;\nint c = a;\n", "launch", "kernel.cu");

std::string Text(const ApplyOutcome& outcome) {
  const auto* refusal = std::get_if<ApplyRefusal>(&outcome);
  return refusal != nullptr ? "refused: " + refusal->reason
                            : std::get<KernelSource>(outcome).text();
}
std::string Apply(const std::vector<Hunk>& hunks) {
  return Text(ApplyModelEdit(kSource, MakeHunksEdit(hunks)));
}

TEST(ModelEdits, HunksReplaceTheirAnchors) {
  // In any order; what one puts in is no anchor of another.
  EXPECT_EQ(Apply({{"int c = a;\n", "int d = 7;\n"}, {"int a = 1;", "int c = a;"}}),
            "int c = a;\nint b = 1;\nint d = 7;\n");
  EXPECT_EQ(Apply({{"int b = 1;\n", ""}}), "int a = 1;\nint c = a;\n");
}

TEST(ModelEdits, AnAnchorIsThereOnce) {
  EXPECT_THAT(Apply({{"= 1;", "= 2;"}}), HasSubstr("hunk 1: \"= 1;\" is in the source more than"));
  EXPECT_THAT(Apply({{"int b", "int x"}, {"int  a", "int y"}}),
              HasSubstr("hunk 2: \"int  a\" is not in the source"));
  EXPECT_THAT(Apply({{"", "int y"}}), HasSubstr("is empty"));
  EXPECT_THAT(Apply({}), HasSubstr("no hunks"));
  // Occurrences that overlap are two.
  EXPECT_THAT(Text(ApplyModelEdit(KernelSource("aaa", "", ""), MakeHunksEdit({{"aa", "b"}}))),
              HasSubstr("more than once"));
}

TEST(ModelEdits, HunksDoNotMeet) {
  EXPECT_THAT(Apply({{"a = 1;\nint b", "x"}, {"int b = 1", "y"}}), HasSubstr("the same text"));
  EXPECT_EQ(Apply({{"int a = 1;", "x"}, {"\nint b", "\ny"}}), "x\ny = 1;\nint c = a;\n");
}

TEST(ModelEdits, AWholeKernelTakesThePlaceOfTheSource) {
  const ApplyOutcome outcome = ApplyModelEdit(kSource, MakeKernelEdit("int z;"));
  EXPECT_EQ(Text(outcome), "int z;");
  EXPECT_EQ(std::get<KernelSource>(outcome).entry(), "launch");
  EXPECT_THAT(Text(ApplyModelEdit(kSource, MakeKernelEdit(kSource.text()))),
              HasSubstr("changes nothing"));
  EXPECT_THAT(Text(ApplyModelEdit(kSource, MakeKernelEdit(std::string(kMostSourceBytes + 1, 'x')))),
              HasSubstr("longer than"));
}

TEST(ModelEdits, EqualTextsHaveEqualLabels) {
  EXPECT_EQ(MakeKernelEdit("a").Label(), MakeKernelEdit("a").Label());
  EXPECT_NE(MakeKernelEdit("a").Label(), MakeKernelEdit("b").Label());
  EXPECT_EQ(MakeHunksEdit({{"a", "b"}}).origin, EditOrigin::kModel);
}

TEST(ModelEdits, DamagedHunksAreRefused) {
  Edit edit = MakeHunksEdit({{"a", "b"}});
  for (const char* text : {"", "{}", "[1]", "[[\"a\"]]", "[[\"a\", 1]]"}) {
    edit.text = text;
    EXPECT_THAT(Text(ApplyModelEdit(kSource, edit)), HasSubstr("no hunks")) << text;
  }
}

}  // namespace
}  // namespace optiml::rewrite
