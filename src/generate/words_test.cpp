#include "generate/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::ElementsAre;

Lexicon Known() {
  auto lexicon = Lexicon::Load();
  EXPECT_TRUE(lexicon) << lexicon.error().message();
  return *std::move(lexicon);
}

std::vector<std::string> Said(const std::vector<Token>& tokens) {
  std::vector<std::string> words;
  for (const Token& token : tokens) {
    if (!token.is_stop) {
      words.push_back((token.is_negated ? "not " : "") + token.word);
    }
  }
  return words;
}

TEST(Stem, FormsOfOneWordAreOne) {
  EXPECT_EQ(Stem("normalising"), Stem("normalized"));
  EXPECT_EQ(Stem("normalise"), Stem("normalization"));
  EXPECT_EQ(Stem("multiplication"), Stem("multiplies"));
  EXPECT_EQ(Stem("multiplying"), Stem("multiply"));
  EXPECT_EQ(Stem("summing"), Stem("sums"));
  EXPECT_EQ(Stem("boxes"), Stem("box"));
  EXPECT_NE(Stem("class"), Stem("cla"));
  EXPECT_EQ(Stem("bias"), Stem("bias"));
  EXPECT_EQ(Stem(""), "");
}

TEST(Lexicon, SynonymsBecomeOneWordAndFillersSayNothing) {
  EXPECT_THAT(Said(Known().Read("Please add up the biggest rows")),
              ElementsAre("sum", "max", "row"));
  EXPECT_THAT(Said(Known().Read("matrix-matrix multiplication")), ElementsAre("matmul"));
}

TEST(Lexicon, NumbersAndShapesAreRead) {
  const auto number = [](const char* text) {
    const std::vector<Token> tokens = Known().Read(text);
    return tokens.empty() ? std::vector<int64_t>() : tokens[0].numbers;
  };
  EXPECT_THAT(number("4 million"), ElementsAre(4000000));
  EXPECT_THAT(number("2^20"), ElementsAre(1048576));
  EXPECT_THAT(number("16M"), ElementsAre(16000000));
  EXPECT_THAT(number("1,048,576"), ElementsAre(1048576));
  EXPECT_THAT(number("1e6"), ElementsAre(1000000));
  EXPECT_THAT(number("8192 x 1024"), ElementsAre(8192, 1024));
  EXPECT_THAT(number("8192x1024"), ElementsAre(8192, 1024));
  EXPECT_THAT(number("8192 by 1024"), ElementsAre(8192, 1024));
  EXPECT_THAT(number("64×32"), ElementsAre(64, 32));
  EXPECT_THAT(number("512^3"), ElementsAre(512, 512, 512));
  // More than any size may be: no overflow.
  EXPECT_GT(number("99999999999999999999999999")[0], 0);
}

TEST(Lexicon, NegationsHoldForTheNextWord) {
  EXPECT_THAT(Said(Known().Read("linear layer without bias")),
              ElementsAre("linear", "layer", "not bia"));
}

TEST(Lexicon, DtypesAreRead) {
  const std::vector<Token> tokens = Known().Read("in half precision");
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[1].dtype, DType::kF16);
}

TEST(Lexicon, AnythingIsATextOfWords) {
  for (const char* text : {"", "   ", "\xff\xfe", "((((", "?", "行列の積", "\n\t\"'", "1.5.5.5x"}) {
    Known().Read(text);
  }
  EXPECT_LE(Known().Read(std::string(1'000'000, ' ') + std::string(100'000, 'a')).size(), 1u);
}

TEST(Lexicon, AWrongFileIsRefused) {
  EXPECT_FALSE(Lexicon::Parse("stop = 1"));
  EXPECT_FALSE(
      Lexicon::Parse("stop = \"\"\nweak = \"\"\ncount_after = \"\"\ncount_before = \"\"\n"
                     "negations = \"\"\n[numbers]\n[dtypes]\nf23 = [\"x\"]\n[synonyms]\n"));
}

}  // namespace
}  // namespace optiml
