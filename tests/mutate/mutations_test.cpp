#include "mutations.h"

#include <gmock/gmock.h>

namespace optiml {
namespace {

using testing::Contains;
using testing::Not;

// "kind: after" of every mutant of one line.
std::vector<std::string> Changes(const std::string& line) {
  std::vector<std::string> changes;
  for (const Mutant& mutant : MutantsOf(line)) {
    changes.push_back(mutant.kind + ": " + mutant.what.substr(mutant.what.find("->  ") + 4));
  }
  return changes;
}

struct Change {
  const char* name;
  const char* line;
  const char* expected;
};

class MutationTest : public testing::TestWithParam<Change> {};
TEST_P(MutationTest, IsMade) {
  EXPECT_THAT(Changes(GetParam().line), Contains(GetParam().expected));
}
INSTANTIATE_TEST_SUITE_P(
    Mutations, MutationTest,
    testing::Values(Change{"Bound", "if (i < n) f();", "bound: if (i <= n) f();"},
                    Change{"Arithmetic", "a = b + c;", "arithmetic: a = b - c;"},
                    Change{"Compound", "s += c;", "arithmetic: s -= c;"},
                    Change{"OffByOne", "a = b[7];", "off by one: a = b[8];"},
                    Change{"Constant", "a = 2.5f;", "constant: a = (2.5f + 0.001f);"},
                    Change{"Function", "a = fmaxf(b, c);", "function: a = fminf(b, c);"},
                    Change{"Place", "i = threadIdx.x;", "index: i = threadIdx.y;"},
                    Change{"Index", "a = b[i];", "index: a = b[(i) + 1];"},
                    Change{"Guard", "if (i >= n) return;", "guard: if (false) return;"},
                    Change{"Barrier", "{ __syncthreads(); }", "barrier removed: { ; }"},
                    Change{"Statement", "{ a[i] = 0; }", "statement dropped: { ; }"},
                    Change{"SwappedArguments", "f(a, b, c);", "swapped arguments: f( b, a, c);"},
                    Change{"SwappedLaunch", "k<<<1, 2>>>(x, y);",
                           "swapped arguments: k<<<1, 2>>>( y, x);"},
                    Change{"NarrowInteger", "int i = 5;", "narrowing: short i = 5;"},
                    Change{"NarrowDouble", "double d = x;", "narrowing: float d = x;"},
                    Change{"NarrowFloat", "float f = x;",
                           "narrowing: float f = __half2float(__float2half(x));"}),
    [](const testing::TestParamInfo<Change>& change) { return std::string(change.param.name); });

TEST(Mutations, LeaveTypesCommentsStringsAndDirectivesAlone) {
  EXPECT_TRUE(
      MutantsOf("#include <a.h>\n// if (i < n)\n/* a + b */\nextern \"C\" void f();").empty());
  EXPECT_THAT(Changes("const float* x;"), Not(Contains("arithmetic: const float+ x;")));
  EXPECT_THAT(Changes("k<<<a, b>>>(x);"), Not(Contains(testing::HasSubstr("<<="))));
}

TEST(Mutations, AreEachMadeOnceAndAlwaysInTheSameOrder) {
  const std::string text = "if (i < n && i + 1 < n) { a[i] = b[i + 1] + 1; }";
  const auto first = MutantsOf(text);
  const auto second = MutantsOf(text);
  ASSERT_EQ(first.size(), second.size());
  EXPECT_GE(first.size(), 19u);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].text, second[i].text);
    EXPECT_NE(first[i].text, text);
  }
}

}  // namespace
}  // namespace optiml
