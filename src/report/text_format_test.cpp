#include "report/text_format.h"

#include <gtest/gtest.h>

#include <limits>

namespace optiml {
namespace {

TEST(FormatSeconds, PicksTheUnitThatKeepsThreeDigitsBeforeThePoint) {
  EXPECT_EQ(FormatSeconds(2.5), "2.500 s");
  EXPECT_EQ(FormatSeconds(0.0123456), "12.35 ms");
  EXPECT_EQ(FormatSeconds(87.1234e-6), "87.12 us");
  EXPECT_EQ(FormatSeconds(999.9e-6), "999.9 us");
  EXPECT_EQ(FormatSeconds(5e-9), "5 ns");
  EXPECT_EQ(FormatSeconds(std::numeric_limits<double>::infinity()), "unknown");
}

TEST(FormatElapsed, ReadsLikeAClock) {
  EXPECT_EQ(FormatElapsed(0.4121), "412 ms");
  EXPECT_EQ(FormatElapsed(3.14), "3.1 s");
  EXPECT_EQ(FormatElapsed(125), "2 min 05 s");
  EXPECT_EQ(FormatElapsed(3725), "1 h 02 min");
}

TEST(FormatFactor, KeepsThreeDigits) {
  EXPECT_EQ(FormatFactor(3.2149), "3.21x");
  EXPECT_EQ(FormatFactor(12.44), "12.4x");
  EXPECT_EQ(FormatFactor(123.4), "123x");
}

TEST(FormatNumber, ScalesLargeCountsAndKeepsSmallRatios) {
  EXPECT_EQ(FormatNumber(0), "0");
  EXPECT_EQ(FormatNumber(134217728), "134.2 M");
  EXPECT_EQ(FormatNumber(9999), "9999");
  EXPECT_EQ(FormatNumber(12345), "12.35 k");
  EXPECT_EQ(FormatNumber(0.0312), "0.031");
  EXPECT_EQ(FormatNumber(4.2e-5), "4.2e-05");
  EXPECT_EQ(FormatNumber(2e18), "2000 P");
}

TEST(FormatQuantity, PutsTheUnitBehind) {
  EXPECT_EQ(FormatQuantity(536870912, "byte"), "536.9 MB");
  EXPECT_EQ(FormatQuantity(12, "byte"), "12 B");
  EXPECT_EQ(FormatQuantity(1048576, "sector"), "1.049 M sectors");
  EXPECT_EQ(FormatQuantity(1, "sector"), "1 sector");
  EXPECT_EQ(FormatQuantity(3, "branch"), "3 branches");
  EXPECT_EQ(FormatQuantity(7, "pass"), "7 passes");
  EXPECT_EQ(FormatQuantity(3, "inst"), "3 inst");
  EXPECT_EQ(FormatQuantity(0.98, "ratio"), "0.98");
}

TEST(EscapeHtml, LeavesNothingThatCouldCloseAnElementOrAnAttribute) {
  EXPECT_EQ(EscapeHtml("</script>&\"'<b>"), "&lt;/script&gt;&amp;&quot;&#39;&lt;b&gt;");
  EXPECT_EQ(EscapeHtml(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(EscapeHtml("\xff"
                       "a"),
            "\xEF\xBF\xBD"
            "a");
}

TEST(ValidUtf8, KeepsWhatIsValidAndReplacesTheRest) {
  EXPECT_EQ(ValidUtf8("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(ValidUtf8("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // overlong
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80").size(), 9u);               // surrogate
  EXPECT_EQ(ValidUtf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // cut off
}

TEST(EscapeMarkdown, KeepsTextOnOneLineAndWithoutMarkup) {
  EXPECT_EQ(EscapeMarkdown("a|b\n*c* <d>"), "a\\|b \\*c\\* \\<d\\>");
}

TEST(MarkdownCodeBlock, FenceIsLongerThanAnyInside) {
  EXPECT_EQ(MarkdownCodeBlock("x", "cuda"), "```cuda\nx\n```\n");
  EXPECT_EQ(MarkdownCodeBlock("a ```` b\n", ""), "`````\na ```` b\n`````\n");
}

TEST(QuoteForShell, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(QuoteForShell("rows=33,cols=100"), "rows=33,cols=100");
  EXPECT_EQ(QuoteForShell("x=f32[rows]"), "'x=f32[rows]'");
  EXPECT_EQ(QuoteForShell("it's"), "'it'\\''s'");
  EXPECT_EQ(QuoteForShell(""), "''");
}

}  // namespace
}  // namespace optiml
