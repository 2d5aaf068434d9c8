// optiml check --corpus: a folder of kernels, each in a process of its own.
#include "cli/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include <nlohmann/json.hpp>

#include "cli/fake_toolbox.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A copy of the test's own task under another name, its kernel's text led by a comment.
void AddTask(CommandLine& line, const std::string& name, const std::string& comment) {
  line.Write(name + "/task.toml", line.Read("copy/task.toml"));
  line.Write(name + "/kernel.cu", "// " + comment + "\n" + line.Read("copy/kernel.cu"));
}

nlohmann::json RowOf(const nlohmann::json& corpus, const std::string& kernel) {
  for (const auto& row : corpus["kernels"]) {
    if (row["kernel"] == kernel) {
      return row;
    }
  }
  ADD_FAILURE() << kernel << " has no row";
  return {};
}

TEST(Corpus, TellsTheVerdictsApart) {
  CommandLine line;
  AddTask(line, "all/good", "fine");
  AddTask(line, "all/deep/bad", "wrong");
  AddTask(line, "all/deep/syntax", "broken");
  AddTask(line, "all/odd", "untraceable");
  line.Write("all/lone.cu", line.Read("copy/kernel.cu"));
  line.Write("all/.hidden/x.cu", "");
  line.Write("all/notes.txt", "");
  EXPECT_EQ(line.Run({"check", "--corpus", "all", "--json"}), kExitNothingKept) << line.err.str();
  const auto json = nlohmann::json::parse(line.out.str());
  ASSERT_EQ(json["kernels"].size(), 5u);
  EXPECT_EQ(RowOf(json, "good")["verdict"], "accepted");
  EXPECT_TRUE(RowOf(json, "good")["reason"].is_null());
  EXPECT_EQ(RowOf(json, "deep/bad")["verdict"], "rejected");
  EXPECT_EQ(RowOf(json, "deep/bad")["stage"], "L1");
  EXPECT_EQ(RowOf(json, "deep/syntax")["stage"], "build");
  EXPECT_EQ(RowOf(json, "odd")["verdict"], "unsupported");
  EXPECT_THAT(RowOf(json, "odd")["reason"].get<std::string>(), HasSubstr("launcher uses goto"));
  EXPECT_EQ(RowOf(json, "lone.cu")["verdict"], "no task");
  EXPECT_EQ(json["counts"]["rejected"], 2);
  EXPECT_EQ(json["counts"]["failed"], 0);
}

TEST(Corpus, OneThatHangsCrashesOrTakesAllMemoryCostsItsRow) {
  CommandLine line;
  for (const char* name : {"a_good", "b_hangs", "c_crashes", "d_eats", "e_lies", "f_good"}) {
    AddTask(line, std::string("all/") + name, "fine");
  }
  line.tools.program = [](const std::vector<std::string>& arguments,
                          const ProcessLimits& limits) -> std::optional<Result<ProcessOutcome>> {
    EXPECT_EQ(limits.wall_time, std::chrono::seconds(7));
    EXPECT_EQ(limits.address_space_bytes, size_t{3} << 30);
    const std::string& path = arguments.at(1);
    ProcessOutcome outcome;
    if (path.ends_with("hangs")) {
      outcome.timed_out = true;
      outcome.signal = 9;
    } else if (path.ends_with("crashes")) {
      outcome.signal = 11;
      outcome.exit_code = 139;
    } else if (path.ends_with("eats")) {
      outcome.signal = 6;
      outcome.standard_error = "terminate called after throwing 'std::bad_alloc'\n";
    } else if (path.ends_with("lies")) {
      outcome.exit_code = 0;
      outcome.standard_output = "{\"accepted\": ";
    } else {
      return std::nullopt;
    }
    return outcome;
  };
  EXPECT_EQ(line.Run({"check", "--corpus", "all", "--kernel-time", "7", "--kernel-memory", "3"}),
            kExitNothingKept)
      << line.err.str();
  const std::string out = line.out.str();
  EXPECT_THAT(out, HasSubstr("did not end within 7 s"));
  EXPECT_THAT(out, HasSubstr("crashed with signal 11"));
  EXPECT_THAT(out, HasSubstr("ran out of memory"));
  EXPECT_THAT(out, HasSubstr("ended with status 0"));
  EXPECT_THAT(out, HasSubstr("6 kernels: 2 accepted, 4 failed"));
}

TEST(Corpus, PassesTheOptionsOn) {
  CommandLine line;
  AddTask(line, "all/good", "fine");
  std::vector<std::string> seen;
  line.tools.program = [&](const std::vector<std::string>& arguments, const ProcessLimits&) {
    seen = arguments;
    return std::optional<Result<ProcessOutcome>>();
  };
  EXPECT_EQ(line.Run({"check", "--corpus", "all", "--checked", "n=7", "--checked", "n=9",
                      "--check-seeds", "3", "--unconfined", "--threads", "2"}),
            kExitDone)
      << line.err.str();
  const std::string text = testing::PrintToString(seen);
  EXPECT_THAT(text, HasSubstr("\"--checked\", \"n=7\", \"--checked\", \"n=9\""));
  EXPECT_THAT(text, HasSubstr("\"--check-seeds\", \"3\""));
  EXPECT_THAT(text, HasSubstr("\"--threads\", \"2\", \"--unconfined\""));
  EXPECT_THAT(line.out.str(), HasSubstr("1 kernel: 1 accepted"));
}

TEST(Corpus, AKernelThatMemoryCannotHoldCostsItsRow) {
  CommandLine line;
  AddTask(line, "all/good", "fine");
  AddTask(line, "all/huge", "fine");
  line.tools.program = [&](const std::vector<std::string>& arguments, const ProcessLimits&) {
    if (arguments[1].find("huge") == std::string::npos) {
      return std::optional<Result<ProcessOutcome>>();
    }
    ProcessOutcome outcome;
    outcome.exit_code = kExitEnvironment;
    outcome.standard_error = "optiml: n=1e12 needs 4 TB of memory\n";
    return std::optional<Result<ProcessOutcome>>(outcome);
  };
  EXPECT_EQ(line.Run({"check", "--corpus", "all"}), kExitNothingKept) << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("needs 4 TB of memory"));
  EXPECT_THAT(line.out.str(), HasSubstr("2 kernels: 1 accepted"));
}

TEST(Corpus, AToolThatFailsOnOneKernelCostsItsRowOnceOthersWereJudged) {
  CommandLine line;
  AddTask(line, "all/a", "fine");
  AddTask(line, "all/b", "fine");
  AddTask(line, "all/c", "fine");
  std::string broken = "b";
  line.tools.program = [&](const std::vector<std::string>& arguments, const ProcessLimits&) {
    if (!arguments[1].ends_with(broken)) {
      return std::optional<Result<ProcessOutcome>>();
    }
    ProcessOutcome outcome;
    outcome.exit_code = kExitEnvironment;
    outcome.standard_error = "optiml: the linker ended with signal 11\n";
    return std::optional<Result<ProcessOutcome>>(outcome);
  };
  EXPECT_EQ(line.Run({"check", "--corpus", "all"}), kExitNothingKept) << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("the linker ended with signal 11"));
  EXPECT_THAT(line.out.str(), HasSubstr("3 kernels: 2 accepted, 1 failed"));
  broken = "a";  // nothing says that any other could be checked
  EXPECT_EQ(line.Run({"check", "--corpus", "all"}), kExitEnvironment);
}

TEST(Corpus, AnInterruptDuringTheLastCheckEndsItToo) {
  CommandLine line;
  AddTask(line, "all/last", "fine");
  std::atomic<bool> stop = false;
  line.env.stop = &stop;
  line.tools.program = [&](const std::vector<std::string>&, const ProcessLimits&) {
    stop = true;
    ProcessOutcome outcome;
    outcome.exit_code = kExitInterrupted;
    return std::optional<Result<ProcessOutcome>>(outcome);
  };
  EXPECT_EQ(line.Run({"check", "--corpus", "all"}), kExitInterrupted);
  EXPECT_THAT(line.out.str(), Not(HasSubstr("failed")));
}

TEST(Corpus, LimitsOfACheckNameWhatIsAllowed) {
  CommandLine line;
  AddTask(line, "all/good", "fine");
  EXPECT_EQ(line.Run({"check", "--corpus", "all", "--kernel-memory", "9999999999999"}),
            kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("whole numbers from 1 to 1048576"));
  EXPECT_EQ(line.Run({"check", "--corpus", "all", "--kernel-time", "0"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("whole numbers from 1 to 1000000"));
}

TEST(Corpus, ABrokenEnvironmentAndWrongUseEndIt) {
  CommandLine line;
  AddTask(line, "all/good", "fine");
  line.tools.toolchain = Error(ErrorCode::kUnavailable, "NVRTC was not found");
  EXPECT_EQ(line.Run({"check", "--corpus", "all"}), kExitEnvironment);
  EXPECT_THAT(line.err.str(), HasSubstr("NVRTC was not found"));
  line.Write("empty/notes.txt", "");
  EXPECT_EQ(line.Run({"check", "--corpus", "empty"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("no folder with a task.toml and no .cu file"));
  EXPECT_EQ(line.Run({"check", "--corpus", "nowhere"}), kExitBadUse);
  EXPECT_EQ(line.Run({"check", "copy", "--corpus", "all"}), kExitBadUse);
  EXPECT_EQ(line.Run({"check", "--corpus", "all", "--battery"}), kExitBadUse);
  EXPECT_EQ(line.Run({"check"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("PATH is required"));
}

TEST(Corpus, LongReasonsAreCutToTheTerminal) {
  CorpusRow row;
  row.kernel = "k";
  row.reason = std::string(500, 'x') + "\nsecond line";
  const std::string text = FormatCorpusRow(row, 80);
  EXPECT_THAT(text, Not(HasSubstr("second line")));
  EXPECT_THAT(text, HasSubstr("xxx...\n"));
  std::istringstream lines(text);
  for (std::string each; std::getline(lines, each);) {
    EXPECT_LE(each.size(), 80u);
  }
}

}  // namespace
}  // namespace optiml
