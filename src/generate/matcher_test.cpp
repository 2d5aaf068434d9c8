#include "generate/matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const ContractLibrary& Library() {
  static const ContractLibrary library = *ContractLibrary::Load();
  return library;
}

OperatorRequest Clear(const char* sentence) {
  const MatchResult match = MatchIntent(Library(), sentence);
  EXPECT_EQ(match.kind, MatchResult::Kind::kClear) << sentence;
  return match.candidates.empty() ? OperatorRequest() : match.candidates[0].request;
}

TEST(Matcher, SizesOfTheSentenceBecomeTheTasks) {
  EXPECT_THAT(Clear("row-wise softmax of a 1024 x 512 matrix").sizes,
              ElementsAre(Pair("cols", 512), Pair("rows", 1024)));
  EXPECT_THAT(Clear("sum of 4 million floats").sizes, ElementsAre(Pair("n", 4000000)));
  EXPECT_THAT(Clear("relu on a 64 x 32 matrix").sizes, ElementsAre(Pair("n", 2048)));
  EXPECT_THAT(Clear("multiply a 128 x 64 matrix by a 64 x 32 matrix").sizes,
              ElementsAre(Pair("k", 64), Pair("m", 128), Pair("n", 32)));
  EXPECT_THAT(Clear("histogram of 1M ints with 64 bins").sizes,
              ElementsAre(Pair("bins", 64), Pair("n", 1000000)));
  EXPECT_THAT(Clear("max pooling with 3x3 window and stride 2").sizes,
              ElementsAre(Pair("stride", 2), Pair("window", 3)));
  EXPECT_THAT(Clear("layer norm, rows = 12, cols = 34").sizes,
              ElementsAre(Pair("cols", 34), Pair("rows", 12)));
}

TEST(Matcher, ASizeThatTheOperatorDoesNotTakeIsAQuestion) {
  EXPECT_EQ(MatchIntent(Library(), "row-wise softmax with 7 heads").kind,
            MatchResult::Kind::kQuestion);
  // The inner extents differ.
  EXPECT_EQ(MatchIntent(Library(), "multiply a 128 x 64 matrix by a 65 x 32 matrix").kind,
            MatchResult::Kind::kQuestion);
}

TEST(Matcher, DtypesAreTakenWhereTheyAreOffered) {
  EXPECT_EQ(Clear("softmax of each row in half precision").dtype, DType::kF16);
  EXPECT_EQ(Clear("softmax of each row").dtype, DType::kF32);
  const MatchResult match = MatchIntent(Library(), "softmax of each row in double precision");
  EXPECT_EQ(match.kind, MatchResult::Kind::kQuestion);
  EXPECT_THAT(match.candidates[0].unexplained, Contains("double precision"));
}

TEST(Matcher, WhatIsLeftOverIsSaid) {
  const MatchResult match = MatchIntent(Library(), "softmax of A times B");
  EXPECT_EQ(match.kind, MatchResult::Kind::kQuestion);
  EXPECT_THAT(match.candidates[0].unexplained, ElementsAre("times"));
}

TEST(Matcher, WhatTheSentenceDeniesIsNotInTheOperator) {
  EXPECT_NE(MatchIntent(Library(), "layer norm without bias").kind, MatchResult::Kind::kClear);
  EXPECT_EQ(Clear("attention, not causal").choices.at("kind"), "full");
}

TEST(Matcher, AMissingChoiceIsAskedFor) {
  const MatchResult match = MatchIntent(Library(), "apply an activation to a vector");
  ASSERT_EQ(match.kind, MatchResult::Kind::kQuestion);
  EXPECT_THAT(match.candidates[0].missing_choices[0], HasSubstr("which activation (relu"));
}

TEST(Matcher, WithoutAnOperatorTheClosestAreNamed) {
  const MatchResult match = MatchIntent(Library(), "singular value decomposition of a matrix");
  EXPECT_EQ(match.kind, MatchResult::Kind::kNone);
  EXPECT_LE(match.candidates.size(), 3u);
  EXPECT_THAT(match.unknown, Contains("decomposition"));
}

TEST(ParseOperator, IsTheWayBackOfFormatOperator) {
  for (const char* text : {"softmax:kind=log_softmax,dtype=f16", "gemv", "activation:op=relu"}) {
    const auto request = ParseOperator(Library(), text);
    ASSERT_TRUE(request) << request.error().message();
    EXPECT_EQ(FormatOperator(*request), text);
  }
}

TEST(ParseOperator, NamesWhatIsAllowed) {
  const auto message = [](const char* text) {
    const auto request = ParseOperator(Library(), text);
    return request ? std::string("accepted") : request.error().message();
  };
  EXPECT_THAT(message("sofmax"), HasSubstr("no operator \"sofmax\""));
  EXPECT_THAT(message("activation"), HasSubstr("say which activation with activation:op=VALUE"));
  EXPECT_THAT(message("activation:op=rela"), HasSubstr("op is one of relu, leaky_relu"));
  EXPECT_THAT(message("gemv:op=relu"), HasSubstr("has no choice \"op\""));
  EXPECT_THAT(message("histogram:dtype=f32"), HasSubstr("dtype f32 is not offered"));
}

}  // namespace
}  // namespace optiml
