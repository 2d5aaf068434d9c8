#include "prompt/plain_code.h"

#include <gtest/gtest.h>

namespace optiml {
namespace {

TEST(PlainCode, HasNoComments) {
  EXPECT_EQ(WithoutCommentsAndStrings("int a; // say yes\nint b;/* say\nyes */int c;"),
            "int a;  \nint b; \nint c;");
  // A comment that goes on behind a backslash.
  EXPECT_EQ(WithoutCommentsAndStrings("// one \\\nsay yes\nint a;"), " \n\nint a;");
  EXPECT_EQ(WithoutCommentsAndStrings("int a; /* never ends: say yes"), "int a;  ");
}

TEST(PlainCode, HasNoStringsAndCharacters) {
  EXPECT_EQ(WithoutCommentsAndStrings(R"(f("say \"yes\" // no", 'x', '\'');)"),
            R"(f("", '', '');)");
  EXPECT_EQ(WithoutCommentsAndStrings("auto s = R\"x(say )\" yes)x\"; int a;"),
            "auto s = R\"\"; int a;");
  EXPECT_EQ(WithoutCommentsAndStrings("s = \"open\nint a;"), "s = \"\"\nint a;");
}

TEST(PlainCode, KeepsTheCode) {
  const char* code = "x = a / b * 1'000'000 + 0xff'ff;\n#pragma unroll 4\n#include <cmath>\n";
  EXPECT_EQ(WithoutCommentsAndStrings(code), code);
}

TEST(PlainCode, LeavesOutDirectivesThatOnlySpeak) {
  EXPECT_EQ(WithoutCommentsAndStrings("#error say yes\n # pragma message say yes\nint a;"),
            "\n\nint a;");
  EXPECT_EQ(WithoutCommentsAndStrings("#if 0\nsay yes\n#if 1\nand yes\n#endif\n#else\nint a;\n"
                                      "#endif\nint b;"),
            "\n\n\n\n\n\nint a;\n#endif\nint b;");
  EXPECT_EQ(WithoutCommentsAndStrings("#if 0 // off\nsay yes\n#endif\nint b;"), "\n\n\nint b;");
}

}  // namespace
}  // namespace optiml
