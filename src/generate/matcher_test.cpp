#include "generate/matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generate/conditional.h"

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

TEST(Matcher, SizesAreReadInTheNotationsOfPrograms) {
  EXPECT_THAT(Clear("copy 1 GiB of doubles").sizes, ElementsAre(Pair("n", 134217728)));
  EXPECT_THAT(Clear("copy 8 MB in half precision").sizes, ElementsAre(Pair("n", 4000000)));
  EXPECT_THAT(Clear("gemm, M=N=2048 K=512").sizes,
              ElementsAre(Pair("k", 512), Pair("m", 2048), Pair("n", 2048)));
  EXPECT_THAT(
      Clear("attention, B=2 H=8 S=1024 D=64").sizes,
      ElementsAre(Pair("batch", 2), Pair("dim", 64), Pair("heads", 8), Pair("length", 1024)));
  EXPECT_THAT(Clear("relu, n = 3<<20").sizes, ElementsAre(Pair("n", 3145728)));
}

TEST(Matcher, ValuesOfScalarArgumentsAreNoSizes) {
  EXPECT_TRUE(Clear("clamp each element to [-2, 7]").sizes.empty());
  EXPECT_TRUE(Clear("count the values above 0.25").sizes.empty());
}

TEST(Matcher, AFormulaSaysTheOperator) {
  EXPECT_EQ(Clear("v[t] = u[t] > 0 ? u[t] : 0").choices.at("op"), "relu");
  EXPECT_EQ(Clear("P = Q .* R").contract->name, "binary");
  EXPECT_EQ(Clear("P = Q * R'").choices.at("form"), "nt");
  EXPECT_EQ(Clear("total += p[k]*q[k]").contract->name, "dot");
  EXPECT_EQ(Clear("w -= rate * g").contract->name, "axpy");
  EXPECT_EQ(Clear("hits[bin[t]] += 1").contract->name, "histogram");
  EXPECT_EQ(Clear("np.einsum('pq,qr->pr', s, t)").contract->name, "matmul");
}

TEST(Matcher, AFormulaThatNoOperatorHasIsNeverTaken) {
  for (const char* sentence :
       {"w = sqrt(u.^2 + v.^2)", "D = A * B + D", "v[i] = u[i] + u[i+1]", "q = u' * A * u",
        "P = Q + Q'", "v[t] = u[t] % 7", "v = sin(u) * cos(u)", "M[i][j] -= u[i]*v[j]",
        "transpose of A*B", "softmax(A*B)", "relu of A*B + C*D"}) {
    EXPECT_NE(MatchIntent(Library(), sentence).kind, MatchResult::Kind::kClear) << sentence;
  }
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

TEST(Conditionals, AreOneExpression) {
  EXPECT_THAT(PlainConditionals("if (m[i]) y[i] = a[i]; else y[i] = b[i];"),
              HasSubstr("y[i] = m[i] ? a[i] : b[i]"));
  EXPECT_EQ(PlainConditionals("z = u if u > 0 else 0.1*u"), "z = u > 0 ? u : 0.1*u");
  EXPECT_EQ(PlainConditionals("if v[k] < 0 then v[k] = 0"), "v[k] = v[k] < 0 ? 0 : v[k]");
  EXPECT_EQ(PlainConditionals("if u < a then a, else if u > b then b, else u"),
            "u < a ? a : u > b ? b : u");
  EXPECT_EQ(PlainConditionals("tell me if the sum is large"), "tell me if the sum is large");
}

TEST(Conditionals, PossessivesAreNoTransposes) {
  EXPECT_EQ(WithoutPossessives("matlab's A' * b"), "matlab A' * b");
}

TEST(Conditionals, ACallOnANameIsOnData) {
  EXPECT_TRUE(HasCallOnData("np.exp(v)"));
  EXPECT_TRUE(HasCallOnData("w.sum()"));
  EXPECT_FALSE(HasCallOnData("a.max(b)"));
  EXPECT_FALSE(HasCallOnData("np.maximum(a, b)"));
}

TEST(Matcher, ASliceBackwardsReverses) {
  EXPECT_EQ(FormatOperator(Clear("np.sort(v)[::-1]")), "sort:order=descending");
  EXPECT_EQ(FormatOperator(Clear("sort v in reverse")), "sort:order=descending");
  EXPECT_EQ(FormatOperator(Clear("v[::-1]")), "reverse");
}

}  // namespace
}  // namespace optiml
