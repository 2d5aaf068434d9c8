// The emulator against what an H200 gave for the same cases (h200_outputs.txt, made by `agree
// record` from a run of run_on_gpu): equal bits, or as close as the case says.

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "base/file_system.h"
#include "compare.h"
#include "corpus.h"
#include "emulate.h"

namespace optiml::agree {
namespace {

constexpr char kFolder[] = OPTIML_SOURCE_DIR "/tests/agree/";
constexpr uint64_t kSeed = 1;  // of the recorded run

std::map<std::string, std::string> Records() {
  std::map<std::string, std::string> records;
  const auto text = ReadFile(std::string(kFolder) + "h200_outputs.txt");
  EXPECT_TRUE(text.has_value());
  std::istringstream lines(text ? *text : "");
  std::string line;
  while (std::getline(lines, line)) {
    if (const size_t blank = line.find(' ');
        !line.empty() && line[0] != '#' && blank != std::string::npos) {
      records[line.substr(0, blank)] = line.substr(blank + 1);
    }
  }
  return records;
}

class Arithmetic : public testing::TestWithParam<const char*> {};

TEST_P(Arithmetic, AgreesWithTheGpu) {
  static const auto records = Records();
  const auto text = ReadFile(std::string(kFolder) + GetParam() + ".txt");
  ASSERT_TRUE(text.has_value());
  const auto cases = ParseCases(*text, GetParam(), kSeed);
  ASSERT_TRUE(cases.has_value()) << cases.error().message();
  for (const Case& c : *cases) {
    const auto record = records.find(c.name.substr(0, c.name.find(' ')));
    ASSERT_NE(record, records.end()) << c.name << " is not recorded: run arithmetic.sh on a GPU";
    const auto outputs = Emulate(c);
    ASSERT_TRUE(outputs.has_value()) << c.name << ": " << outputs.error().message();
    EXPECT_EQ(CompareWithRecord(c, *outputs, record->second), "") << c.name << "\n" << c.ptx;
  }
}

INSTANTIATE_TEST_SUITE_P(Lists, Arithmetic,
                         testing::Values("convert", "float16", "float32", "integer", "warp",
                                         "function", "matrix", "wmma", "wgmma", "texture"),
                         [](const auto& list) { return std::string(list.param); });

TEST(Corpus, BadListsAreRefusedWithTheirLine) {
  const auto refuse = [](const char* text, const char* expected) {
    const auto cases = ParseCases(text, "list", 1);
    ASSERT_FALSE(cases.has_value()) << text;
    EXPECT_EQ(cases.error().message(), expected);
  };
  refuse("case d:f32 a:f33\n  add.f32 %d, %a, %a;\n", "list:1: unknown type 'f33'");
  refuse("# text\ncase d:f32 a:f32:noise\n  add.f32 %d, %a, %a;\n",
         "list:2: unknown fill 'noise' (known: bits exp sparse range below index zero)");
  refuse("add.f32 %d, %a, %a;\n", "list:1: expected 'case OPERANDS' and indented lines");
  refuse("case d:<#f32|f64> a:<#f32|f64|f16>\n  mov.b32 %d, %a;\n",
         "list:1: '<#f32|f64|f16>' has not as many choices as the one before");
}

// What differs is found: the comparison itself can fail.
TEST(Corpus, DifferencesAreSeen) {
  const auto cases =
      ParseCases("case d:f32 a:f32:bits ulp 2 f32 grid 1 block 32\n  mov.b32 %d, %a;\n", "list", 1);
  ASSERT_TRUE(cases.has_value());
  const Case& c = cases->front();
  Outputs ours(1, std::vector<std::byte>(128));
  Outputs theirs = ours;
  EXPECT_EQ(CompareOutputs(c, ours, theirs, 1).differences, 0u);
  theirs[0][4] = std::byte{2};
  EXPECT_EQ(CompareOutputs(c, ours, theirs, 1).differences, 0u);
  theirs[0][4] = std::byte{3};
  EXPECT_EQ(CompareOutputs(c, ours, theirs, 1).differences, 1u);
  EXPECT_NE(CompareWithRecord(c, ours, RecordOf(c, theirs)), "");
  theirs[0][4] = std::byte{0};
  theirs[0][3] = std::byte{0x7f};
  theirs[0][2] = std::byte{0xc0};  // a NaN
  EXPECT_EQ(CompareOutputs(c, ours, theirs, 1).differences, 1u);
}

}  // namespace
}  // namespace optiml::agree
