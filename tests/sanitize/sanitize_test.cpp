// Small kernels with one known fault each, and clean ones that look suspicious, on the emulator
// with every check on: the fault is found at its line, and nothing else is. README.md says how a
// case is written. With --write FILE the verdicts are written there, one line a case, for table.py.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "base/file_system.h"
#include "run_source.h"

namespace optiml {
namespace {

std::string verdict_file;

struct SanitizeCase {
  std::string name;  // "faulty/bounds_null_pointer"
  SourceRun source;
  std::string expected;  // kind of the finding, or "refused" by the front end; empty: none
  std::string also;      // what may be found beside it: a read that comes too early reads nothing
  std::set<int> lines;   // where it may be
};

std::string Field(const std::string& text, const std::string& key) {
  const std::string start = "// " + key + ": ";
  const size_t at = text.find(start);
  if (at == std::string::npos) {
    return {};
  }
  const size_t begin = at + start.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

SanitizeCase ReadCase(const std::filesystem::path& path) {
  SanitizeCase c;
  c.name = path.parent_path().filename().string() + "/" + path.stem().string();
  const auto text = ReadFile(path);
  c.source.name = path.filename().string();
  c.source.text = text ? *text : "";
  c.source.n = std::stoll(Field(c.source.text, "n"));
  const auto bytes = [&](const std::string& key) {
    const std::string value = Field(c.source.text, key);
    return value.empty() ? static_cast<uint64_t>(c.source.n) * 4 : std::stoull(value);
  };
  c.source.in_bytes = bytes("in");
  c.source.out_bytes = bytes("out");
  c.expected = Field(c.source.text, "emulator");
  c.also = Field(c.source.text, "also");
  std::istringstream lines(c.source.text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.ends_with("// here")) {
      c.lines.insert(number);
    }
  }
  return c;
}

std::vector<std::filesystem::path> Paths() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"clean", "faulty"}) {
    for (const auto& entry : std::filesystem::directory_iterator(
             std::string(OPTIML_SOURCE_DIR "/tests/sanitize/") + folder)) {
      if (entry.path().extension() == ".cu") {
        paths.push_back(entry.path());
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The lines of the other party that a finding names.
std::vector<int> OtherLines(const Finding& finding) {
  static const std::regex at_line("at line ([0-9]+)");
  std::vector<int> lines;
  for (std::sregex_iterator it(finding.detail.begin(), finding.detail.end(), at_line), end;
       it != end; ++it) {
    lines.push_back(std::stoi((*it)[1]));
  }
  return lines;
}

void Write(const SanitizeCase& c, const std::string& kind, int line) {
  if (!verdict_file.empty()) {
    std::ofstream(verdict_file, std::ios::app) << c.name << "\t" << kind << "\t" << line << "\n";
  }
}

// A launcher that cannot be right is refused before anything runs; the message begins "file:line:
// ".
void ExpectRefusal(const SanitizeCase& c, const std::string& message) {
  ASSERT_EQ(c.expected, "refused") << message;
  ASSERT_TRUE(message.starts_with(c.source.name + ":")) << message;
  const int line = std::stoi(message.substr(c.source.name.size() + 1));
  EXPECT_TRUE(c.lines.contains(line)) << message;
  Write(c, "refused", line);
}

void ExpectFindings(const SanitizeCase& c, const std::vector<Finding>& findings) {
  bool found = false;
  for (const Finding& finding : findings) {
    const std::string text =
        fmt::format("{} at line {}: {}", finding.kind, finding.line, finding.detail);
    EXPECT_TRUE(finding.kind == c.expected || (!c.also.empty() && finding.kind == c.also)) << text;
    EXPECT_TRUE(c.lines.contains(finding.line)) << text;
    for (const int line : OtherLines(finding)) {
      EXPECT_TRUE(c.lines.contains(line)) << text;
    }
    if (!found && finding.kind == c.expected) {
      found = true;
      Write(c, finding.kind, static_cast<int>(finding.line));
    }
  }
  EXPECT_EQ(found, !c.expected.empty());
}

class Sanitize : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Sanitize, FindsTheFaultAndNothingElse) {
  const auto toolchain = SourceToolchain();
  if (!toolchain) {
    GTEST_SKIP() << toolchain.error().message();
  }
  const SanitizeCase c = ReadCase(GetParam());
  ASSERT_EQ(c.expected.empty(), c.name.starts_with("clean/"));
  ASSERT_EQ(c.expected.empty(), c.lines.empty());
  const auto run = RunSource(c.source);
  if (!run) {
    ExpectRefusal(c, run.error().message());
    return;
  }
  if (c.expected.empty()) {
    EXPECT_EQ(run->status, RunStatus::kCompleted) << run->reason;
    Write(c, "-", 0);
  }
  ExpectFindings(c, run->findings);
}

INSTANTIATE_TEST_SUITE_P(Cases, Sanitize, testing::ValuesIn(Paths()), [](const auto& path) {
  return path.param.parent_path().filename().string() + "_" + path.param.stem().string();
});

}  // namespace
}  // namespace optiml

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (argc == 3 && std::string(argv[1]) == "--write") {
    optiml::verdict_file = argv[2];
    std::filesystem::remove(optiml::verdict_file);
  }
  return RUN_ALL_TESTS();
}
