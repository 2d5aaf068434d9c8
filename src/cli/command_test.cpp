// Every command in process: what it prints, what it leaves, how it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include <nlohmann/json.hpp>

#include "cli/fake_toolbox.h"
#include "cli/run_folder.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

int64_t Lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

constexpr char kRun[] = "optiml-runs/copy-20000101-000000";

TEST(Optimize, LeavesTheRunsFilesAndPrintsASummary) {
  CommandLine line;
  EXPECT_EQ(line.Run({"optimize", "copy", "--seed", "7"}), kExitDone) << line.err.str();
  for (const char* file : {"run.sqlite", "best.cu", "best.patch", "report.html", "report.json"}) {
    EXPECT_TRUE(line.Exists(std::string(kRun) + "/" + file)) << file;
  }
  EXPECT_THAT(line.out.str(), HasSubstr("before     169.7 us predicted"));
  EXPECT_THAT(line.out.str(), HasSubstr("gain       6.32x (4.51x to 8.84x)"));
  EXPECT_THAT(
      line.out.str(),
      HasSubstr("KEEP   3.87x  row_fold(block=256)\n                give each row to a block"));
  EXPECT_THAT(line.out.str(), Not(HasSubstr("unroll(factor=2)")));  // dropped
  EXPECT_THAT(line.out.str(), HasSubstr(std::string(kRun) + "/report.html"));
  ASSERT_EQ(line.tools.session_options.size(), 1u);
  EXPECT_EQ(line.tools.session_options[0].search.seed, 7u);
}

TEST(Optimize, RecordsWhatResumeAndTheReportNeed) {
  CommandLine line;
  line.tools.session = [&](const SessionParts& parts, const SessionOptions&,
                           const RunRecord& record) {
    EXPECT_EQ(record.id.value, "copy-20000101-000000");
    EXPECT_EQ(record.task.name, "copy");
    EXPECT_EQ(record.task.hash, parts.task->hash.Hex());
    EXPECT_THAT(record.task.task_toml, HasSubstr("[task]"));
    EXPECT_EQ(record.task.timed_shapes, std::vector<std::string>{"n=8192"});
    EXPECT_EQ(record.environment.device_name, "h200 (emulated)");
    EXPECT_EQ(record.environment.toolchain, "NVRTC 13.0, nvJitLink 13.0");
    EXPECT_EQ(record.options.at("timed"), "n=8192");
    EXPECT_EQ(record.options.at("judge"), "false");
    EXPECT_EQ(record.options.at("time"), "9");
    return CommandLine::Finish(parts, record);
  };
  EXPECT_EQ(line.Run({"optimize", "copy", "--timed", "n=8192", "--no-judge", "--time", "9"}),
            kExitDone)
      << line.err.str();
}

TEST(Optimize, JsonIsTheOnlyThingOnStandardOutput) {
  CommandLine line;
  EXPECT_EQ(line.Run({"optimize", "copy", "--json"}), kExitDone);
  const auto json = nlohmann::json::parse(line.out.str());
  EXPECT_EQ(json["times_are"], "predicted");
  EXPECT_EQ(json["improved"], true);
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["chain"][1]["mark"], "DROPPED");
}

TEST(Optimize, ExitsWithOneWhenNothingCouldBeKept) {
  CommandLine line;
  line.tools.session = [](const SessionParts& parts, const SessionOptions&,
                          const RunRecord&) -> Result<RunRecord> {
    RunResult result;
    result.reason = "the best predicted gain, 1.1x, is within the model's error";
    OPTIML_TRY(parts.store->AppendNode(sample::UnfinishedRun().nodes[0]));
    OPTIML_TRY(parts.store->SaveResult(result));
    OPTIML_TRY(parts.store->SetState(RunState::kFinished, ""));
    return parts.store->Load();
  };
  EXPECT_EQ(line.Run({"optimize", "copy"}), kExitNothingKept);
  EXPECT_THAT(line.out.str(), HasSubstr("within the model's error"));
  EXPECT_FALSE(line.Exists(std::string(kRun) + "/best.cu"));
}

TEST(Optimize, InterruptedRunCanBeResumed) {
  CommandLine line;
  line.tools.session = [](const SessionParts& parts, const SessionOptions&,
                          const RunRecord&) -> Result<RunRecord> {
    OPTIML_TRY(parts.store->AppendNode(sample::UnfinishedRun().nodes[0]));
    OPTIML_TRY(parts.store->SetState(RunState::kInterrupted, ""));
    return Error(ErrorCode::kInterrupted, "interrupted");
  };
  EXPECT_EQ(line.Run({"optimize", "copy", "--candidates", "9"}), kExitInterrupted);
  EXPECT_THAT(line.out.str(), HasSubstr(std::string("optiml resume ") + kRun));
  line.tools.session = [](const SessionParts& parts, const SessionOptions& options,
                          const RunRecord& record) {
    EXPECT_EQ(record.nodes.size(), 1u);
    EXPECT_EQ(options.budget.candidates, 9);
    return CommandLine::Finish(parts, record);
  };
  EXPECT_EQ(line.Run({"resume", "last"}), kExitDone) << line.err.str();
  EXPECT_TRUE(line.Exists(std::string(kRun) + "/best.cu"));
}

TEST(Optimize, FailureBeforeTheFirstKernelLeavesNothing) {
  CommandLine line;
  line.tools.session = [](const SessionParts&, const SessionOptions&,
                          const RunRecord&) -> Result<RunRecord> {
    return Error(ErrorCode::kInvalidArgument, "task.toml:3: the task accepts zeros");
  };
  EXPECT_EQ(line.Run({"optimize", "copy"}), kExitBadUse);
  EXPECT_EQ(line.err.str(), "optiml: task.toml:3: the task accepts zeros\n");
  EXPECT_FALSE(line.Exists("optiml-runs"));
  ASSERT_TRUE(CreateDirectories(line.Path("mine")));
  EXPECT_EQ(line.Run({"optimize", "copy", "--out", "mine"}), kExitBadUse);
  EXPECT_TRUE(line.Exists("mine"));  // the user's own folder stays, empty
  EXPECT_EQ(line.FilesIn("mine"), 0u);
}

TEST(Optimize, LaterFailureKeepsTheStore) {
  CommandLine line;
  line.tools.session = [](const SessionParts& parts, const SessionOptions&,
                          const RunRecord&) -> Result<RunRecord> {
    OPTIML_TRY(parts.store->AppendNode(sample::UnfinishedRun().nodes[0]));
    return Error(ErrorCode::kUnavailable, "the device is lost");
  };
  EXPECT_EQ(line.Run({"optimize", "copy"}), kExitEnvironment);
  EXPECT_THAT(line.err.str(), StartsWith("optiml: the device is lost"));
  EXPECT_TRUE(line.Exists(std::string(kRun) + "/run.sqlite"));
}

struct BadInput {
  std::string name;
  std::vector<std::string> arguments;
  int exit_code;
  std::string message;
};

TEST(Optimize, BadInputIsOneLineAndLeavesNothing) {
  CommandLine line;
  line.Write("noentry/task.toml", line.Read("copy/task.toml"));
  line.Write("noentry/kernel.cu", "__global__ void k() {}\nunparsable\n");
  std::string no_shape = line.Read("copy/task.toml");
  no_shape.replace(no_shape.find(", shape = [\"n\"], role"), 15, "");
  line.Write("noshape/task.toml", no_shape);
  line.Write("noshape/kernel.cu", line.Read("copy/kernel.cu"));
  std::string host = line.Read("copy/task.toml");
  host.replace(host.find("kind = \"original\""), 17, "kind = \"host\"\nsource = \"reference.cpp\"");
  line.Write("badref/task.toml", host);
  line.Write("badref/reference.cpp", "int");
  line.Write("badref/kernel.cu", line.Read("copy/kernel.cu"));
  for (const BadInput& bad : std::vector<BadInput>{
           {"no such task", {"optimize", "nowhere"}, kExitBadUse, "nowhere"},
           {"launcher", {"optimize", "noentry"}, kExitBadUse, "kernel.cu:1: unparsable"},
           {"no shape", {"optimize", "noshape"}, kExitBadUse, "task.toml:10"},
           {"reference", {"optimize", "badref"}, kExitBadUse, "reference.cpp:4: expected a ';'"},
           {"device", {"optimize", "copy", "--device-description", "h100"}, kExitBadUse, "h100"},
           {"sizes", {"optimize", "copy", "--timed", "n="}, kExitBadUse, "--timed"},
           {"overflow",
            {"optimize", "copy", "--timed", "n=9223372036854775807"},
            kExitBadUse,
            "9223372036854775807"},
       }) {
    SCOPED_TRACE(bad.name);
    EXPECT_EQ(line.Run(bad.arguments), bad.exit_code);
    EXPECT_THAT(line.err.str(), StartsWith("optiml: "));
    EXPECT_THAT(line.err.str(), HasSubstr(bad.message));
    EXPECT_EQ(Lines(line.err.str()), 1);
    EXPECT_EQ(line.out.str(), "");
    EXPECT_FALSE(line.Exists("optiml-runs"));
  }
  EXPECT_TRUE(line.tools.session_options.empty());
}

TEST(Optimize, MissingToolchainIsTheEnvironmentsFault) {
  CommandLine line;
  line.tools.toolchain = Error(ErrorCode::kUnavailable, "NVRTC is not here (install it)");
  EXPECT_EQ(line.Run({"optimize", "copy"}), kExitEnvironment);
  EXPECT_EQ(line.err.str(), "optiml: NVRTC is not here (install it)\n");
  EXPECT_FALSE(line.Exists("optiml-runs"));
}

TEST(Optimize, OutputFolderThatCannotBeMadeIsOneMessage) {
  CommandLine line;
  line.Write("file", "");
  EXPECT_EQ(line.Run({"optimize", "copy", "--out", "file/run"}), kExitEnvironment);
  EXPECT_THAT(line.err.str(), HasSubstr("file/run: cannot create the folder"));
  EXPECT_TRUE(line.tools.session_options.empty());
}

TEST(Optimize, ExistingRunFolderIsRefused) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  const std::string store = line.Read("run/run.sqlite");
  EXPECT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("already holds a run"));
  EXPECT_EQ(line.Read("run/run.sqlite"), store);
}

// A disk that is full: files of this process may not grow beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_limit_{};
  void (*old_handler_)(int) = nullptr;
};

TEST(Report, FullDiskLeavesTheOldReportAndNoHalf) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  line.Write("run/report.html", "the old one");
  const size_t files = line.FilesIn("run");
  {
    const FileSizeLimit limit(1000);
    EXPECT_EQ(line.Run({"report", "run"}), kExitEnvironment);
  }
  EXPECT_THAT(line.err.str(), HasSubstr("report.html: cannot write"));
  EXPECT_EQ(line.Read("run/report.html"), "the old one");
  EXPECT_EQ(line.FilesIn("run"), files);
}

TEST(Report, PrintsMarkdownAndJsonAndWritesHtml) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  fs::remove(line.Path("run/report.html"));
  EXPECT_EQ(line.Run({"report", "run"}), kExitDone);
  EXPECT_EQ(line.out.str(), "run/report.html\n");
  EXPECT_THAT(line.Read("run/report.html"), HasSubstr("</html>"));
  EXPECT_EQ(line.Run({"report", "run", "--format", "markdown"}), kExitDone);
  EXPECT_THAT(line.out.str(), StartsWith("# copy"));
  EXPECT_EQ(line.Run({"report", "run", "--json"}), kExitDone);
  EXPECT_EQ(nlohmann::json::parse(line.out.str())["schema"], "optiml-report-1");
  EXPECT_EQ(line.Run({"report", "run", "--format", "markdown", "-o", "r.md"}), kExitDone);
  EXPECT_THAT(line.Read("r.md"), StartsWith("# copy"));
}

TEST(Report, CorruptStoreIsOneMessage) {
  CommandLine line;
  line.Write("run/run.sqlite", "this is no database");
  for (const char* command : {"report", "resume", "replay"}) {
    const int exit_code = line.Run({command, "run"});
    EXPECT_TRUE(exit_code == kExitBadUse || exit_code == kExitEnvironment) << exit_code;
    EXPECT_THAT(line.err.str(), HasSubstr("run.sqlite"));
    EXPECT_EQ(Lines(line.err.str()), 1);
  }
  EXPECT_EQ(line.Read("run/run.sqlite"), "this is no database");
}

TEST(Report, RunThatIsNotThereIsBadUse) {
  CommandLine line;
  EXPECT_EQ(line.Run({"report", "nothing"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("nothing: no run is here"));
}

TEST(Resume, RefusesAChangedTaskAndAnEndedRun) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "ended"}), kExitDone);
  EXPECT_EQ(line.Run({"resume", "ended"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("the run has ended"));
  line.tools.session = [](const SessionParts& parts, const SessionOptions&,
                          const RunRecord&) -> Result<RunRecord> {
    OPTIML_TRY(parts.store->AppendNode(sample::UnfinishedRun().nodes[0]));
    OPTIML_TRY(parts.store->SetState(RunState::kInterrupted, ""));
    return Error(ErrorCode::kInterrupted, "interrupted");
  };
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "open"}), kExitInterrupted);
  line.Write("copy/kernel.cu", line.Read("copy/kernel.cu") + "// changed\n");
  EXPECT_EQ(line.Run({"resume", "open"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("the task has changed since the run began"));
}

TEST(Resume, LockedRunIsTheEnvironmentsFault) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  const auto other = RunStore::Open(line.Path("run/run.sqlite"), false);
  ASSERT_TRUE(other);
  EXPECT_EQ(line.Run({"resume", "run"}), kExitEnvironment);
  EXPECT_THAT(line.err.str(), HasSubstr("run.sqlite"));
}

TEST(Replay, SaysWhetherTheTreeIsTheSame) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  EXPECT_EQ(line.Run({"replay", "run"}), kExitDone);
  EXPECT_EQ(line.out.str(), "run: the same tree of 8 nodes, best node 5\n");
  line.tools.replay = Error(ErrorCode::kInternal, "step 3: asked node 4, now node 6");
  EXPECT_EQ(line.Run({"replay", "run"}), kExitEnvironment);
  EXPECT_EQ(line.err.str(), "optiml: step 3: asked node 4, now node 6\n");
}

TEST(Runs, ListsRunsAndNamesUnreadableOnes) {
  CommandLine line;
  EXPECT_EQ(line.Run({"runs"}), kExitDone);
  EXPECT_EQ(line.out.str(), "no runs in optiml-runs\n");
  ASSERT_EQ(line.Run({"optimize", "copy"}), kExitDone);
  EXPECT_EQ(line.Run({"runs"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr(kRun));
  EXPECT_THAT(line.out.str(), HasSubstr("6.32x predicted"));
  line.Write("optiml-runs/bad/run.sqlite", "junk");
  EXPECT_EQ(line.Run({"runs", "--json"}), kExitEnvironment);
  const auto json = nlohmann::json::parse(line.out.str());
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["state"], "unreadable");
  EXPECT_EQ(json[1]["candidates"], 7);
  EXPECT_EQ(line.Run({"runs", "nowhere"}), kExitBadUse);
}

TEST(Runs, TellRunningFromKilled) {
  CommandLine line;
  RunRecord run = sample::UnfinishedRun();
  ASSERT_TRUE(CreateDirectories(line.Path("optiml-runs/a")));
  {
    const auto store = RunStore::Create(line.Path("optiml-runs/a/run.sqlite"), run);
    ASSERT_TRUE(store);
    EXPECT_EQ(line.Run({"runs"}), kExitDone);
    EXPECT_THAT(line.out.str(), HasSubstr(" running "));
  }
  EXPECT_EQ(line.Run({"runs"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr(" killed "));
}

TEST(Export, WritesEverythingOrNothing) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  EXPECT_EQ(line.Run({"export", "run", "-o", "out"}), kExitDone);
  EXPECT_EQ(line.Read("out/best.cu"), sample::VectorSource());
  EXPECT_EQ(line.FilesIn("out/variants"), 8u);
  EXPECT_EQ(line.Read("out/variants/0000.cu"), sample::NaiveSource());
  EXPECT_EQ(line.Run({"export", "run", "-o", "out"}), kExitBadUse);
  {
    const FileSizeLimit limit(500);
    EXPECT_EQ(line.Run({"export", "run", "-o", "full"}), kExitEnvironment);
  }
  EXPECT_FALSE(line.Exists("full"));
  EXPECT_FALSE(line.Exists("full.part"));
}

TEST(Init, WritesATaskAndSaysWhatIsMissing) {
  CommandLine line;
  line.Write("lone/kernel.cu", line.Read("copy/kernel.cu"));
  EXPECT_EQ(line.Run({"init", "lone/kernel.cu"}), kExitDone) << line.err.str();
  EXPECT_THAT(line.Read("lone/task.toml"), HasSubstr("[args]"));
  EXPECT_THAT(line.out.str(), HasSubstr("left to fill in:"));
  EXPECT_EQ(line.Run({"init", "lone/kernel.cu"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("--force replaces it"));
  EXPECT_EQ(line.Run({"init", "lone/kernel.cu", "-o", "-"}), kExitDone);
  EXPECT_EQ(line.out.str(), line.Read("lone/task.toml"));
}

TEST(Init, CompleteFlagsGiveATaskThatLoads) {
  CommandLine line;
  line.Write("lone/kernel.cu", line.Read("copy/kernel.cu"));
  EXPECT_EQ(line.Run({"init", "lone/kernel.cu", "--timed", "n=4096", "--checked", "n=33", "--arg",
                      "x=f32[n]:in:normal", "--arg", "y=f32[n]:out"}),
            kExitDone)
      << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("nothing is left to fill in"));
  EXPECT_TRUE(LoadTask(line.Path("lone"))) << LoadTask(line.Path("lone")).error().message();
}

TEST(Check, AcceptsRejectsAndSaysHowToReproduce) {
  CommandLine line;
  EXPECT_EQ(line.Run({"check", "copy"}), kExitDone) << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("accepted: 12 cases passed"));
  line.Write("bad.cu", "// wrong\n");
  EXPECT_EQ(line.Run({"check", "copy", "--kernel", "bad.cu", "--checked", "n=7"}),
            kExitNothingKept);
  EXPECT_THAT(line.out.str(), HasSubstr("bad.cu: rejected at L1: y differs from the reference"));
  EXPECT_THAT(line.out.str(), HasSubstr("y[0, 999]: expected 0.25"));
  EXPECT_THAT(line.out.str(), HasSubstr("optiml check copy --kernel bad.cu --checked n=7"));
  line.Write("broken.cu", "// broken\n");
  EXPECT_EQ(line.Run({"check", "copy", "--kernel", "broken.cu", "--json"}), kExitNothingKept);
  const auto json = nlohmann::json::parse(line.out.str());
  EXPECT_EQ(json["stage"], "build");
  EXPECT_EQ(json["reason"], "broken.cu:3: expected a ';'");
}

TEST(Check, BatteryPrintsItsTable) {
  CommandLine line;
  EXPECT_EQ(line.Run({"check", "copy", "--battery"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("zeros"));
  line.tools.battery = Error(ErrorCode::kInvalidArgument, "task.toml: accepts zeros");
  EXPECT_EQ(line.Run({"check", "copy", "--battery"}), kExitBadUse);
}

TEST(Check, StopAfterPrintsWhatTheStageYields) {
  CommandLine line;
  EXPECT_EQ(line.Run({"check", "copy", "--stop-after", "parse"}), kExitDone);
  EXPECT_EQ(line.out.str(), "function copy\n");
  EXPECT_EQ(line.Run({"check", "copy", "--stop-after", "plan"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("checked n=33\n"));
  EXPECT_EQ(line.Run({"check", "copy", "--stop-after", "build"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr(".version 8.0"));
  EXPECT_EQ(line.Run({"optimize", "copy", "--stop-after", "measure"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("n=4096 predicted"));
}

TEST(Profile, ShowsTimesAndRejectsWrongKernels) {
  CommandLine line;
  EXPECT_EQ(line.Run({"profile", "copy"}), kExitDone) << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("n=4096"));
  EXPECT_THAT(line.out.str(), HasSubstr("predicted"));
  EXPECT_EQ(line.Run({"profile", "copy", "--json"}), kExitDone);
  EXPECT_EQ(nlohmann::json::parse(line.out.str())["timings"][0]["shape"], "n=4096");
  line.Write("bad.cu", "// wrong\n");
  EXPECT_EQ(line.Run({"profile", "copy", "--kernel", "bad.cu"}), kExitNothingKept);
}

TEST(Doctor, SaysWhatFollowsFromWhatIsMissing) {
  CommandLine line;
  line.tools.facts.toolchain = *line.tools.toolchain;
  line.tools.facts.compiler = {"c++", "/usr/bin/c++", "g++ 12"};
  line.tools.facts.clang_version = "19.1.7";
  EXPECT_EQ(line.Run({"doctor"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("Clang 19.1.7"));
  EXPECT_THAT(line.out.str(), HasSubstr("times are predicted, not measured"));
  EXPECT_THAT(line.out.str(), HasSubstr("ready: try"));
  line.tools.facts.toolchain = Error(ErrorCode::kUnavailable, "libnvrtc is not here");
  EXPECT_EQ(line.Run({"doctor", "--json"}), kExitEnvironment);
  const auto json = nlohmann::json::parse(line.out.str());
  EXPECT_EQ(json["ready"], false);
  EXPECT_EQ(json["findings"][1]["verdict"], "broken");
}

}  // namespace
}  // namespace optiml
