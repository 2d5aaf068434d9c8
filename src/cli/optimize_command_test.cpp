// optiml optimize and resume, in process: what they print, what they leave, how they fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(Optimize, TheSummarySaysUnderWhichClocksTheGainWasMeasured) {
  CommandLine line;
  line.tools.session = [](const SessionParts& parts, const SessionOptions&,
                          const RunRecord& record) -> Result<RunRecord> {
    OPTIML_ASSIGN(RunRecord run, CommandLine::Finish(parts, record));
    Conditions conditions;
    conditions.before.sm_hz = 1980e6;
    conditions.after.sm_hz = 1200e6;
    conditions.after.throttling = {{"power cap"}};
    run.result->gain_conditions = conditions;
    run.task.bytes = 4.8e9;
    run.environment.dram_bytes_per_s = 4.8e12;
    return run;
  };
  EXPECT_EQ(line.Run({"optimize", "copy"}), kExitDone) << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("clocks     SM clock 1980 MHz before, 1200 MHz after"));
  EXPECT_THAT(line.out.str(), HasSubstr("warning: the GPU's clocks were held down"));
  EXPECT_THAT(line.out.str(), HasSubstr("times the target floor of 1.000 ms"));
}

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

DeviceInfo Gpu(const std::string& name, int multiprocessors) {
  DeviceInfo info;
  info.name = name;
  info.architecture = "sm_90";
  info.multiprocessors = multiprocessors;
  info.capabilities.measures_time = true;
  return info;
}

TEST(Optimize, FurtherGpusAreThoseThatEqualTheFirst) {
  CommandLine line;
  line.tools.gpus = {{"cuda", Gpu("A", 132)},
                     {"cuda:1", Gpu("A", 132)},
                     {"cuda:2", Gpu("A", 66)},
                     {"cuda:3", Gpu("B", 132)}};
  size_t further = 0;
  int in_flight = 0;
  line.tools.session = [&](const SessionParts& parts, const SessionOptions& options,
                           const RunRecord& record) {
    further = parts.more_devices.size();
    in_flight = options.in_flight;
    EXPECT_EQ(record.options.at("more-devices"), "cuda:1,cuda:2,cuda:3");
    return CommandLine::Finish(parts, record);
  };
  EXPECT_EQ(
      line.Run({"optimize", "copy", "--device", "cuda", "--more-devices", "cuda:1,cuda:2,cuda:3"}),
      kExitDone)
      << line.err.str();
  EXPECT_THAT(line.err.str(), HasSubstr("note: cuda:2 is left out: it is a A of 66"));
  EXPECT_THAT(line.err.str(), HasSubstr("note: cuda:3 is left out: it is a B of 132"));
  EXPECT_EQ(further, 1U);
  EXPECT_EQ(in_flight, 12);
}

TEST(Optimize, FurtherGpusDoNotHelpTheEmulator) {
  CommandLine line;
  EXPECT_EQ(line.Run({"optimize", "copy", "--device", "emulator", "--more-devices", "cuda:1"}),
            kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("--more-devices: they help a GPU"));
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
    EXPECT_EQ(record.environment.toolchain, "NVRTC 13.0");
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

// A session that is interrupted after the root.
Result<RunRecord> Interrupted(const SessionParts& parts, const RunRecord& record) {
  if (record.nodes.empty()) {
    OPTIML_TRY(parts.store->AppendNode(sample::UnfinishedRun().nodes[0]));
  }
  OPTIML_TRY(parts.store->SetState(RunState::kInterrupted, ""));
  return Error(ErrorCode::kInterrupted, "interrupted");
}

TEST(Optimize, CandidatesGivenAtAResumeCountForTheNextOneToo) {
  CommandLine line;
  line.tools.session = [](const SessionParts& parts, const SessionOptions&,
                          const RunRecord& record) { return Interrupted(parts, record); };
  EXPECT_EQ(line.Run({"optimize", "copy", "--candidates", "9"}), kExitInterrupted);
  EXPECT_EQ(line.Run({"resume", "last", "--candidates", "30"}), kExitInterrupted);
  EXPECT_EQ(line.Run({"resume", "last"}), kExitInterrupted);
  ASSERT_EQ(line.tools.session_options.size(), 3u);
  EXPECT_EQ(line.tools.session_options[1].budget.candidates, 30);
  EXPECT_EQ(line.tools.session_options[2].budget.candidates, 30);
}

TEST(Optimize, ARunOfATaskFileOfAnotherNameIsResumed) {
  CommandLine line;
  std::string toml = line.Read("copy/task.toml");
  toml.replace(toml.find("checked = [ { n = 33"), 20, "checked = [ { n = 34");
  for (const char* folder : {"copy", "only"}) {  // beside a task.toml, and without one
    line.Write(std::string(folder) + "/kernel.cu", line.Read("copy/kernel.cu"));
    line.Write(std::string(folder) + "/small.toml", toml);
    line.tools.session = [](const SessionParts& parts, const SessionOptions&,
                            const RunRecord& record) { return Interrupted(parts, record); };
    const std::string run = std::string("run-") + folder;
    EXPECT_EQ(line.Run({"optimize", std::string(folder) + "/small.toml", "-o", run}),
              kExitInterrupted);
    line.tools.session = [](const SessionParts& parts, const SessionOptions&,
                            const RunRecord& record) { return CommandLine::Finish(parts, record); };
    EXPECT_EQ(line.Run({"resume", run}), kExitDone) << line.err.str();
    EXPECT_THAT(line.Read(run + "/report.md"), HasSubstr(std::string(folder) + "/small.toml"));
  }
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

TEST(Optimize, AFullDiskAtTheStartPromisesNothingAndLeavesNothing) {
  CommandLine line;
  {
    const FileSizeLimit limit(2000);
    EXPECT_EQ(line.Run({"optimize", "copy"}), kExitEnvironment);
  }
  EXPECT_THAT(line.err.str(), HasSubstr("run.sqlite.new: cannot write"));
  EXPECT_THAT(line.err.str(), Not(HasSubstr("resume")));
  EXPECT_EQ(Lines(line.err.str()), 1);
  EXPECT_FALSE(line.Exists("optiml-runs"));
}

TEST(Optimize, AFullDiskMidwayIsAFailureThatCanBeResumed) {
  CommandLine line;
  std::optional<FileSizeLimit> limit;
  line.tools.session = [&](const SessionParts& parts, const SessionOptions&,
                           const RunRecord&) -> Result<RunRecord> {
    const std::vector<NodeRecord> nodes = sample::FinishedRun().nodes;
    OPTIML_TRY(parts.store->AppendNode(nodes[0]));
    limit.emplace(8192);
    Result<void> appended = parts.store->AppendNode(nodes[1]);
    EXPECT_FALSE(appended);
    EXPECT_FALSE(parts.store->SetState(RunState::kFailed, appended.error().message()));
    return std::move(appended).error();
  };
  EXPECT_EQ(line.Run({"optimize", "copy"}), kExitEnvironment);
  limit.reset();
  EXPECT_THAT(line.err.str(), HasSubstr("run.sqlite: cannot write"));
  EXPECT_THAT(line.err.str(),
              HasSubstr(std::string("what was done is kept: `optiml resume ") + kRun + "`"));
  EXPECT_EQ(Lines(line.err.str()), 1);
  EXPECT_EQ(line.Run({"runs"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr(" failed "));
  line.tools.session = [](const SessionParts& parts, const SessionOptions&,
                          const RunRecord& record) {
    EXPECT_EQ(record.nodes.size(), 1u);
    return CommandLine::Finish(parts, record);
  };
  EXPECT_EQ(line.Run({"resume", kRun}), kExitDone) << line.err.str();
  EXPECT_EQ(line.Run({"runs"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr(" finished "));
}

TEST(Optimize, QuietPrintsNothingWhenInterruptedEither) {
  CommandLine line;
  line.tools.session = [](const SessionParts& parts, const SessionOptions&,
                          const RunRecord& record) { return Interrupted(parts, record); };
  EXPECT_EQ(line.Run({"optimize", "copy", "-q"}), kExitInterrupted);
  EXPECT_EQ(line.out.str(), "");
  EXPECT_EQ(line.err.str(), "");
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
  line.Write("noentry/kernel.cu", "__global__ void k() {}\n");
  line.Write("nosense/task.toml", line.Read("copy/task.toml"));
  line.Write("nosense/kernel.cu", line.Read("copy/kernel.cu") + "unparsable\n");
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
           {"launcher",
            {"optimize", "noentry"},
            kExitBadUse,
            "task.toml:4: entry \"copy\": kernel.cu has"},
           {"source", {"optimize", "nosense"}, kExitBadUse, "kernel.cu:1: unparsable"},
           {"no shape", {"optimize", "noshape"}, kExitBadUse, "task.toml:10"},
           {"reference", {"optimize", "badref"}, kExitBadUse, "reference.cpp:4: expected a ';'"},
           {"device", {"optimize", "copy", "--device-description", "h100"}, kExitBadUse, "h100"},
           {"sizes", {"optimize", "copy", "--timed", "n="}, kExitBadUse, "--timed"},
           {"size beyond all",
            {"optimize", "copy", "--timed", "n=99999999999999999999999"},
            kExitBadUse,
            "--timed: \"n=99999999999999999999999\" is too large: a size is at most 922"},
           {"other size",
            {"optimize", "copy", "--checked", "m=5"},
            kExitBadUse,
            "optiml: --checked m=5: the row \"m=5\" does not name the sizes of the first timed "
            "row"},
           {"other timed size",
            {"optimize", "copy", "--timed", "m=5"},
            kExitBadUse,
            "optiml: --timed m=5: the row \"m=5\" does not name the sizes of the first timed row"},
           {"size beyond its type",
            {"optimize", "copy", "--timed", "n=3000000000"},
            kExitBadUse,
            "optiml: --timed n=3000000000: task.toml:11: size n = 3000000000 does not fit"},
           {"argument",
            {"optimize", "copy", "--arg", "x=f64[n]"},
            kExitBadUse,
            "optiml: --arg x: x is f64 in the task, but f32 in copy (kernel.cu:2)"},
           {"argument's text",
            {"optimize", "copy", "--arg", "x=f33[n]"},
            kExitBadUse,
            "optiml: --arg x=f33[n]: unknown dtype"},
           {"no such size",
            {"optimize", "copy", "--arg", "y=size"},
            kExitBadUse,
            "optiml: --arg y=size: no such size (sizes: n)"},
           {"entry", {"optimize", "copy", "--entry", "q"}, kExitBadUse, "optiml: --entry \"q\": "},
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

}  // namespace
}  // namespace optiml
