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
  EXPECT_THAT(number("1<<22"), ElementsAre(4194304));
  EXPECT_THAT(number("1 << 10"), ElementsAre(1024));
  EXPECT_THAT(number("2**21"), ElementsAre(2097152));
  EXPECT_THAT(number("3e5"), ElementsAre(300000));
  EXPECT_THAT(number("2.5M"), ElementsAre(2500000));
  EXPECT_THAT(number("2Mx64"), ElementsAre(2000000, 64));
  EXPECT_THAT(number("16x3x30x30"), ElementsAre(16, 3, 30, 30));
  EXPECT_THAT(number("300 cubed"), ElementsAre(300, 300, 300));
  EXPECT_THAT(number("512 -> 2048"), ElementsAre(512, 2048));
  EXPECT_THAT(number("(8, 64, 32)"), ElementsAre(8, 64, 32));
  EXPECT_THAT(number("720p"), ElementsAre(720, 1280));
  EXPECT_TRUE(Known().Read("3 MiB")[0].is_bytes);
  EXPECT_THAT(number("3 MiB"), ElementsAre(3 * 1048576));
  // More than any size may be: no overflow.
  EXPECT_GT(number("99999999999999999999999999")[0], 0);
}

std::vector<std::string> Plain(const char* text) {
  std::vector<std::string> words = Said(Known().Read(text));
  std::erase_if(words, [](const std::string& word) { return word.size() == 1 || word == "()"; });
  return words;
}

TEST(Lexicon, NamesOfProgramsAreWords) {
  EXPECT_EQ(Plain("torch.nn.functional.log_softmax(x)"), Plain("log softmax"));
  EXPECT_EQ(Plain("cub::DeviceRadixSort::SortKeysDescending"),
            Plain("device radix sort sort keys descending"));
  EXPECT_EQ(Plain("cudnnPoolingForward"), Plain("pooling forward"));
  EXPECT_EQ(Plain("nn.ReLU"), Plain("relu"));
  EXPECT_EQ(Plain("index_add_"), Plain("index add"));
  EXPECT_EQ(Plain("np.sum(A, axis=0)"), Plain("sum first axis"));
  EXPECT_EQ(Plain("x.mean(-1)"), Plain("mean last axis"));
  EXPECT_EQ(Plain("np.maximum.accumulate"), Plain("cummax"));
  EXPECT_EQ(Plain("fabsf"), Plain("abs"));
  EXPECT_EQ(Plain("tensor of (N, C, H, W)"), Plain("tensor"));
  EXPECT_THAT(Plain("linear(bias=False)"), ::testing::Contains("not bia"));
}

TEST(Lexicon, TheLetterOfBlasIsADtype) {
  const std::vector<Token> tokens = Known().Read("dscal");
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_EQ(tokens[0].blas_dtype, DType::kF64);
  EXPECT_FALSE(Known().Read("dense")[0].blas_dtype);
}

TEST(Lexicon, LayoutsAreNoRows) {
  EXPECT_TRUE(Known().Read("row-major")[0].is_stop);
  EXPECT_FALSE(Known().Read("row-major to column-major")[0].is_stop);
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
