#include "cli/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_toolbox.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kCommands = {
    "optimize", "generate", "init",   "check",      "profile", "report", "runs",  "resume",
    "replay",   "export",   "doctor", "completion", "models",  "mot",    "bench", "emulate"};

TEST(Cli, HelpListsEveryCommandAndTheExitStatuses) {
  CommandLine line;
  EXPECT_EQ(line.Run({"--help"}), kExitDone);
  for (const std::string& command : kCommands) {
    EXPECT_THAT(line.out.str(), HasSubstr("\n  " + command));
  }
  EXPECT_THAT(line.out.str(), HasSubstr("130  interrupted"));
  EXPECT_THAT(line.out.str(), Not(HasSubstr("docs")));  // hidden
  EXPECT_EQ(line.err.str(), "");
}

TEST(Cli, HelpOfEveryCommandHasUsageAndExample) {
  CommandLine line;
  for (const std::string& command : kCommands) {
    EXPECT_EQ(line.Run({command, "--help"}), kExitDone);
    EXPECT_THAT(line.out.str(), HasSubstr("usage: optiml " + command));
    EXPECT_THAT(line.out.str(), HasSubstr("Example"));
    EXPECT_THAT(line.out.str(), HasSubstr("  optiml " + command));
  }
}

TEST(Cli, HelpFitsTheTerminal) {
  CommandLine line;
  line.env.width = 72;
  line.Run({"resume", "--help"});
  std::istringstream lines(line.out.str());
  for (std::string text; std::getline(lines, text);) {
    EXPECT_LE(text.size(), 72u) << text;
  }
}

TEST(Cli, VersionIsOneLine) {
  CommandLine line;
  EXPECT_EQ(line.Run({"--version"}), kExitDone);
  EXPECT_THAT(line.out.str(), ::testing::MatchesRegex("optiml [0-9.]+\n"));
}

TEST(Cli, WrongUseIsOneLineOnStandardErrorAndExitTwo) {
  CommandLine line;
  const auto expect = [&](const std::vector<std::string>& arguments, const std::string& message) {
    EXPECT_EQ(line.Run(arguments), kExitBadUse);
    EXPECT_EQ(line.out.str(), "");
    EXPECT_EQ(line.err.str(), "optiml: " + message + "\n");
  };
  expect({}, "no command is given; see `optiml --help`");
  expect({"optimise", "x"},
         "no command \"optimise\" (did you mean optimize?); see `optiml --help`");
  expect({"optimize", "copy", "--sede", "3"},
         "no option --sede (did you mean --seed?); see `optiml optimize --help`");
  expect({"optimize"}, "PATH is required (or --intent TEXT); see `optiml optimize --help`");
  expect({"optimize", "copy", "--search", "best"},
         "--search: best not in {mcts,greedy,random}; see `optiml optimize --help`");
  expect({"report", "a", "b"}, "one argument too many: \"b\"; see `optiml report --help`");
}

TEST(Cli, MessageOfSeveralLinesIsPrintedOnOne) {
  CommandLine line;
  line.tools.toolchain = Error(ErrorCode::kUnavailable, "first\nsecond\n");
  EXPECT_EQ(line.Run({"optimize", "copy"}), kExitEnvironment);
  EXPECT_EQ(line.err.str(), "optiml: first; second\n");
}

TEST(Cli, StandardOutputThatCannotBeWrittenIsAnError) {
  CommandLine line;
  struct FullDisk : std::streambuf {
    int overflow(int) override { return traits_type::eof(); }
  } full;
  std::ostream out(&full);
  line.env.out = &out;
  EXPECT_EQ(line.Run({"docs", "metrics"}), kExitEnvironment);
  EXPECT_EQ(line.err.str(), "optiml: standard output: cannot write\n");
}

TEST(CliEnv, CacheDirectoryFollowsTheVariables) {
  CommandLine line;
  EXPECT_EQ(line.env.CacheDirectory(), line.Path("cache"));
  line.env.variables = {{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}};
  EXPECT_EQ(line.env.CacheDirectory(), "/x/optiml");
  line.env.variables = {{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}};
  EXPECT_EQ(line.env.CacheDirectory(), "/h/.cache/optiml");
  line.env.variables = {{"HOME", ""}};
  EXPECT_EQ(line.env.CacheDirectory(), std::nullopt);
}

TEST(Cli, NumbersThatAreNotAllowedNameWhatIs) {
  CommandLine line;
  const auto message = [&](const char* command, const char* flag, const char* value) {
    EXPECT_EQ(line.Run({command, "copy", flag, value}), kExitBadUse) << flag << " " << value;
    const std::string text = line.err.str();
    EXPECT_LT(text.size(), 200u) << text;
    return text;
  };
  EXPECT_THAT(message("optimize", "--candidates", "-1"),
              HasSubstr("--candidates: -1 is not allowed (whole numbers from 0 to 1000000)"));
  EXPECT_THAT(message("optimize", "--candidates", "1.5"), HasSubstr("1.5 is not allowed (whole"));
  EXPECT_THAT(message("optimize", "--exploration", "-1"),
              HasSubstr("--exploration: -1 is not allowed (numbers from 0)"));
  EXPECT_THAT(message("optimize", "--exploration", "nan"), HasSubstr("nan is not allowed"));
  EXPECT_THAT(message("optimize", "--max-depth", "0"),
              HasSubstr("--max-depth: 0 is not allowed (whole numbers from 1 to 2147483647)"));
  EXPECT_THAT(message("optimize", "--seed", "x"),
              HasSubstr("--seed: x is not allowed (whole numbers from 0 to"));
  EXPECT_THAT(message("check", "--check-seeds", "0"), HasSubstr("0 is not allowed (whole"));
  EXPECT_THAT(message("emulate", "--grid", "a"), HasSubstr("a is not allowed (whole"));
  EXPECT_THAT(message("resume", "--threads", "2000"), HasSubstr("(whole numbers from 0 to 1024)"));
}

TEST(Cli, ADeviceIsOneOfThoseThatAreKnown) {
  CommandLine line;
  for (const char* device : {"gpu", "cuda:", "cuda:x", "cuda:1000000", ""}) {
    EXPECT_EQ(line.Run({"check", "copy", "--device", device}), kExitBadUse) << device;
    EXPECT_THAT(line.err.str(), HasSubstr("is none of auto, emulator, cuda, cuda:N")) << device;
  }
}

TEST(Cli, AGpuThatWasAskedForAndIsNotThereEndsTheCommand) {
  CommandLine line;
  for (const char* device : {"cuda", "cuda:1"}) {
    EXPECT_EQ(line.Run({"check", "copy", "--device", device}), kExitEnvironment);
    EXPECT_THAT(line.err.str(), HasSubstr("fallen off the bus"));
  }
}

TEST(Cli, WithoutAUsableGpuTheEmulatorIsTakenAndOnlyADriverIsWorthANote) {
  CommandLine line;
  EXPECT_EQ(line.Run({"check", "copy"}), kExitDone);
  EXPECT_EQ(line.err.str(), "");
  line.tools.gpu_driver = true;
  EXPECT_EQ(line.Run({"check", "copy"}), kExitDone);
  EXPECT_EQ(line.err.str(),
            "note: the emulator is used, so times are predicted: the GPU has fallen off the bus\n");
  EXPECT_EQ(line.Run({"check", "copy", "--device", "emulator"}), kExitDone);
  EXPECT_EQ(line.err.str(), "");
}

}  // namespace
}  // namespace optiml
