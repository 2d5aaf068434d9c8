// The quick ways of the race check of global memory find what the thorough way finds.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

constexpr Checks kGlobal{false, true, true, true, true};

struct Found {
  uint64_t total = 0;
  std::string text;
};

Found Races(const std::string& body) {
  const LaunchOutcome outcome = RunWords(body, {2}, {64}, 1024, kGlobal).outcome;
  EXPECT_EQ(outcome.status, LaunchStatus::kCompleted) << outcome.message;
  Found found;
  found.total = outcome.findings_total;
  for (const Finding& finding : outcome.findings) {
    found.text += fmt::format("{} at line {}: {}\n", finding.kind, finding.line, finding.detail);
  }
  return found;
}

class Bodies {
 public:
  explicit Bodies(uint32_t seed) : random_(seed) {}

  // A few loads and stores to places of each thread's own, or shared with others, and barriers.
  std::string Next() {
    constexpr int kAccesses = 4;
    std::string body;
    for (int i = 0; i < kAccesses; ++i) {
      body += fmt::format("\n.loc 1 {} 1\n", 10 + i);
      if (random_() % 2 == 0) {
        body += "bar.sync 0;\n";
      }
      const uint32_t words = 1u << random_() % 3;
      const uint32_t in_warp = random_() % 2;
      // Words of a block, or of all blocks; lanes in step, reversed, or several at one place.
      body += fmt::format(
          "mul.lo.u32 %r10, %r4, {}; xor.b32 %r10, %r10, {}; mad.lo.u32 %r10, %r2, {}, %r10; "
          "and.b32 %r10, %r10, 127; mul.wide.u32 %rd3, %r10, {}; add.s64 %rd3, %rd1, %rd3; "
          "and.b32 %r11, %r4, {}; setp.ne.u32 %p2, %r11, {};\n",
          random_() % 8 == 0 ? 0 : 1u << random_() % 3, in_warp * (random_() % 32),
          random_() % 6 == 0 ? 0 : 64, 4 * words, random_() % 2 == 0 ? 0 : 1u << random_() % 6,
          1u << random_() % 6);
      body += "@%p2 " + Access(words);
    }
    return body;
  }

 private:
  std::string Access(uint32_t words) {
    const bool store = random_() % 2 == 0;
    const std::string value = random_() % 2 == 0 ? "%r1" : "7";
    const std::string type = words == 1 ? "u32" : fmt::format("v{}.u32", words);
    std::string list;
    for (uint32_t i = 0; i < words; ++i) {
      list += (i == 0 ? "" : ", ") + (store ? value : fmt::format("%r{}", 20 + i));
    }
    list = words == 1 ? list : "{" + list + "}";
    return store ? fmt::format("st.global.{} [%rd3], {};\n", type, list)
                 : fmt::format("ld.global.{} {}, [%rd3];\n", type, list);
  }

  std::mt19937 random_;
};

TEST(GlobalRacePaths, FindTheSame) {
  // An atomic on a page of tags sends all accesses of that page the thorough way.
  const std::string thorough = "setp.eq.u32 %p1, %r1, 0; @%p1 red.global.add.u32 [%rd1+4092], 1;\n";
  const std::string quick = "setp.eq.u32 %p1, %r1, 0; @%p1 add.u32 %r9, %r9, 1;\n";
  Bodies bodies(23);
  int clean = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    const std::string body = bodies.Next();
    const Found expected = Races(thorough + body);
    const Found found = Races(quick + body);
    ASSERT_EQ(found.text, expected.text) << body;
    ASSERT_EQ(found.total, expected.total) << body;
    clean += found.total == 0 ? 1 : 0;
  }
  EXPECT_GT(clean, kRounds / 20);
  EXPECT_LT(clean, kRounds - kRounds / 20);
}

TEST(GlobalRacePaths, KnowAtomicsFromOtherAccesses) {
  const std::string add = "red.global.add.u32 [%rd1], 1;\n";
  const auto races = [](const std::string& body) { return Races(body).total; };
  EXPECT_EQ(races(add + add), 0u);
  EXPECT_NE(races(add + "setp.eq.u32 %p1, %r1, 70; @%p1 st.global.u32 [%rd1], 7;"), 0u);
  EXPECT_NE(races("setp.eq.u32 %p1, %r1, 3; @%p1 st.global.u32 [%rd1], 7;\n" + add), 0u);
  EXPECT_NE(races("setp.eq.u32 %p1, %r1, 3; @%p1 ld.global.u32 %r9, [%rd1];\n" + add), 0u);
  EXPECT_NE(races(add + "setp.eq.u32 %p1, %r1, 70; @%p1 ld.global.u32 %r9, [%rd1];"), 0u);
  // Of the block's scope, by two blocks: beside each other and beside ones of all blocks.
  EXPECT_NE(races("red.global.cta.add.u32 [%rd1], 1;"), 0u);
  const std::string in_block = "red.global.cta.add.u32 [%rd1], 1;\n@";
  const std::string first = "setp.eq.u32 %p1, %r2, 0; @";
  EXPECT_NE(races(first + "%p1 " + in_block + "!%p1 " + add), 0u);
  EXPECT_NE(races(first + "!%p1 " + in_block + "%p1 " + add), 0u);
  // Eight bytes are two granules where narrower accesses occur.
  const std::string wide = "red.global.add.u64 [%rd1], 1;\n";
  EXPECT_EQ(races(wide + "setp.eq.u32 %p1, %r1, 3; @%p1 st.global.u32 [%rd1+8], 7;"), 0u);
  EXPECT_NE(races(wide + "setp.eq.u32 %p1, %r1, 70; @%p1 st.global.u32 [%rd1+4], 7;"), 0u);
}

}  // namespace
}  // namespace optiml::ptx
