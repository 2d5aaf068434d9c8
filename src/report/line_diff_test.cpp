#include "report/line_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file_system.h"
#include "base/process.h"
#include "base/rng.h"

namespace optiml {
namespace {

std::string RandomText(Rng& rng, uint64_t most_lines) {
  std::string text;
  const uint64_t lines = rng.NextBelow(most_lines + 1);
  for (uint64_t i = 0; i < lines; ++i) {
    text += static_cast<char>('a' + rng.NextBelow(4));
    text += '\n';
  }
  if (!text.empty() && rng.NextBelow(3) == 0) {
    text.pop_back();
  }
  return text;
}

// The length of the longest common subsequence by the quadratic table: what Myers must reach.
size_t CommonLength(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                         : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table[a.size()][b.size()];
}

// Lines with their newline, so that an unended last line differs.
std::vector<std::string> Lines(std::string text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.erase(0, end + 1);
  }
  return lines;
}

TEST(LineDiff, IsShortestAndRebuildsBothTexts) {
  Rng rng(7);
  for (int round = 0; round < 2000; ++round) {
    const std::string a = RandomText(rng, 14);
    const std::string b = RandomText(rng, 14);
    size_t same = 0;
    size_t old_lines = 0;
    size_t new_lines = 0;
    for (const DiffLine& line : DiffLines(a, b)) {
      same += line.kind == DiffKind::kSame ? 1 : 0;
      if (line.kind != DiffKind::kAdded) {
        EXPECT_EQ(static_cast<size_t>(line.old_line), ++old_lines);
      }
      if (line.kind != DiffKind::kRemoved) {
        EXPECT_EQ(static_cast<size_t>(line.new_line), ++new_lines);
      }
    }
    EXPECT_EQ(old_lines, Lines(a).size());
    EXPECT_EQ(new_lines, Lines(b).size());
    EXPECT_EQ(same, CommonLength(Lines(a), Lines(b))) << "round " << round;
  }
}

TEST(LineDiff, TextsWithNothingInCommonNeedLittleMemory) {
  std::string a;
  std::string b;
  for (int i = 0; i < 1500; ++i) {
    a += "old " + std::to_string(i) + "\n";
    b += "new " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(DiffLines(a, b).size(), 3000u);
}

TEST(UnifiedDiff, EqualTextsGiveNoPatch) {
  EXPECT_EQ(UnifiedDiff("a", "b", "x\n", "x\n"), "");
  EXPECT_EQ(UnifiedDiff("a", "b", "", ""), "");
}

TEST(UnifiedDiff, ShowsContextAroundEachChange) {
  EXPECT_EQ(UnifiedDiff("a/k.cu", "b/k.cu", "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
                        "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a/k.cu\n+++ b/k.cu\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, MarksAMissingLastNewline) {
  EXPECT_EQ(UnifiedDiff("a", "b", "x\ny", "x\ny\n"),
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n");
}

std::string WithReturns(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '\n' ? "\r\n" : std::string(1, c);
  }
  return result;
}

TEST(UnifiedDiff, ThePatchProgramTurnsOneTextIntoTheOther) {
  if (!FindProgram("patch")) {
    GTEST_SKIP() << "no patch program here";
  }
  auto folder = TemporaryDirectory::Create("optiml-diff-");
  ASSERT_TRUE(folder);
  const fs::path file = folder->path() / "k.cu";
  Rng rng(11);
  for (int round = 0; round < 60; ++round) {
    std::string a = RandomText(rng, 30);
    std::string b = RandomText(rng, 30);
    if (round % 4 == 0) {  // a file of an editor on Windows
      a = "\xEF\xBB\xBF" + WithReturns(a);
      b = "\xEF\xBB\xBF" + WithReturns(b);
    }
    const std::string patch = UnifiedDiff("a/k.cu", "b/k.cu", a, b);
    if (patch.empty()) {
      continue;
    }
    ASSERT_TRUE(WriteFileAtomically(file, a));
    ProcessRequest request;
    request.argv = {"patch", "-s", "-F0", "--no-backup-if-mismatch", file.string()};
    request.standard_input = patch;
    const auto outcome = RunProcess(request);
    ASSERT_TRUE(outcome) << outcome.error().message();
    ASSERT_TRUE(outcome->succeeded()) << outcome->standard_output << patch;
    const auto patched = ReadFile(file);
    // patch removes a file that becomes empty.
    EXPECT_EQ(patched ? *patched : "", b) << patch;
  }
}

}  // namespace
}  // namespace optiml
