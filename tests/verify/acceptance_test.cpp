// Real kernels through the whole of the verifier: parsed, planned, built by NVRTC, run on the
// emulator, compared with the confined references of their tasks (examples/, suite/ and tasks/).
//
// cheats/*.cu must be rejected at the stage and for the reason that their first lines say, and not
// as unsupported where these say "fault";
// honest/*.cu must be accepted. A case is a file: nothing here knows them by name. The timed
// shapes, which take seconds, are executed for cheats that are to be rejected there and for honest
// kernels that say "timed: compared". open/*.cu are not rejected yet.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/clock.h"
#include "base/file_system.h"
#include "build/builder.h"
#include "core/host_mode.h"
#include "device/emulator_device.h"
#include "task/reference.h"
#include "task/task.h"
#include "verify/delivered.h"
#include "verify/verifier.h"

namespace optiml {
namespace {

using testing::HasSubstr;

constexpr char kExamples[] = OPTIML_SOURCE_DIR "/examples";
constexpr char kCases[] = OPTIML_SOURCE_DIR "/tests/verify";

// Tasks of outputs and arguments that neither an example nor the suite has are here.
std::filesystem::path TaskFolder(const std::string& name) {
  if (name.starts_with("suite/")) {
    return std::filesystem::path(OPTIML_SOURCE_DIR) / name;
  }
  const auto example = std::filesystem::path(kExamples) / name;
  return std::filesystem::exists(example) ? example
                                          : std::filesystem::path(kCases) / "tasks" / name;
}

// A task with all that its verification needs; made once for all cases of the task.
struct Bench {
  KernelTask task;
  std::unique_ptr<HostReference> reference;
  std::unique_ptr<Verifier> verifier;
};

class Workshop {
 public:
  static Workshop& Get() {
    static Workshop workshop;
    return workshop;
  }

  // Why nothing can be run here; empty when all is well.
  std::string Missing() {
    const auto toolchain = builder_->Toolchain();
    return toolchain ? "" : toolchain.error().message();
  }

  Bench& For(const std::string& name) {
    std::unique_ptr<Bench>& bench = benches_[name];
    if (bench == nullptr) {
      bench = std::make_unique<Bench>();
      Result<KernelTask> task = LoadTask(TaskFolder(name));
      EXPECT_TRUE(task) << task.error().message();
      bench->task = *std::move(task);
      ReferenceOptions options;
      options.cache_directory = cache_.path();
      auto reference = MakeHostReference(bench->task, options);
      EXPECT_TRUE(reference) << reference.error().message();
      bench->reference = *std::move(reference);
      VerifierOptions verifier_options;
      verifier_options.step_limit_per_case = 100'000'000;
      verifier_options.recorder.cache_directory = cache_.path();
      verifier_options.recorder.time_limit_s = 3;
      auto verifier =
          MakeVerifier(bench->task, *builder_, *device_, bench->reference.get(), verifier_options);
      EXPECT_TRUE(verifier) << verifier.error().message();
      bench->verifier = *std::move(verifier);
    }
    return *bench;
  }

 private:
  Workshop()
      : cache_(*TemporaryDirectory::Create("optiml-acceptance-")),
        builder_(MakeNvrtcBuilder({})),
        device_(*MakeEmulatorDevice({})) {}

  TemporaryDirectory cache_;
  std::unique_ptr<Builder> builder_;
  std::unique_ptr<Device> device_;
  std::map<std::string, std::unique_ptr<Bench>> benches_;
};

// "// key: value" among the first lines of a case.
std::string Header(const std::string& text, const std::string& key) {
  const std::string mark = "// " + key + ": ";
  const size_t at = text.find(mark);
  if (at == std::string::npos) {
    return "";
  }
  return text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
}

// `recorded`: whether a plan was made by the recorder.
std::string Verdict(Bench& bench, const KernelSource& source, Evaluation& evaluation,
                    bool& recorded, bool timed = false) {
  auto prepared = bench.verifier->Prepare(source, evaluation);
  if (!prepared) {
    return "error: " + prepared.error().message();
  }
  if (auto* candidate = std::get_if<PreparedCandidate>(&*prepared)) {
    recorded =
        std::any_of(candidate->case_plans.begin(), candidate->case_plans.end(),
                    [](const LaunchPlan& plan) { return plan.maker == PlanMaker::kRecorder; });
    const auto untraced = bench.verifier->Trace(*candidate, evaluation);
    if (!untraced) {
      return "error: " + untraced.error().message();
    }
    auto verified = *untraced ? Result<void>() : bench.verifier->Verify(*candidate, evaluation);
    if (verified && timed && evaluation.accepted()) {
      verified = bench.verifier->VerifyTimed(*candidate, evaluation);
    }
    if (!verified) {
      return "error: " + verified.error().message();
    }
  }
  const Rejection* rejection = evaluation.rejection();
  return rejection == nullptr ? "accepted" : StageName(rejection->stage) + ": " + rejection->reason;
}

std::vector<std::string> CasesIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(kCases) + "/" + folder)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string CaseName(const testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

class CaseTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string missing = Workshop::Get().Missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    text_ = *ReadFile(GetParam());
    task_ = Header(text_, "task");
    ASSERT_FALSE(task_.empty()) << "a case says its task";
  }
  std::string Judge(Evaluation& evaluation) {
    Bench& bench = Workshop::Get().For(task_);
    timed_ = Header(text_, "stage") == "L2" || Header(text_, "timed") == "compared";
    return Verdict(bench, KernelSource(text_, bench.task.source.entry(), "candidate.cu"),
                   evaluation, recorded_, timed_);
  }

  std::string text_;
  std::string task_;
  bool recorded_ = false;
  bool timed_ = false;
};

class CheatTest : public CaseTest {};
TEST_P(CheatTest, IsRejectedAtTheStageAndForTheReasonItSays) {
  Evaluation evaluation;
  const std::string verdict = Judge(evaluation);
  EXPECT_THAT(verdict, testing::StartsWith(Header(text_, "stage") + ": "));
  EXPECT_THAT(verdict, HasSubstr(Header(text_, "reason")));
  if (!Header(text_, "fault").empty()) {
    ASSERT_NE(evaluation.rejection(), nullptr);
    EXPECT_FALSE(evaluation.rejection()->is_unsupported) << "it is known to be wrong";
  }
}
INSTANTIATE_TEST_SUITE_P(Verify, CheatTest, testing::ValuesIn(CasesIn("cheats")), CaseName);

// What the verifier does not reject yet, as docs/verification.md says: a case that is rejected as
// it should be belongs to cheats/.
class OpenTest : public CaseTest {};
TEST_P(OpenTest, IsNotRejectedYet) {
  Evaluation evaluation;
  const std::string verdict = Judge(evaluation);
  EXPECT_FALSE(verdict.starts_with(Header(text_, "stage") + ": ") &&
               verdict.find(Header(text_, "reason")) != std::string::npos)
      << "rejected now (" << verdict << "): move it to cheats/";
}
INSTANTIATE_TEST_SUITE_P(Verify, OpenTest, testing::ValuesIn(CasesIn("open")), CaseName);

class HonestTest : public CaseTest {};
TEST_P(HonestTest, IsAccepted) {
  Evaluation evaluation;
  EXPECT_EQ(Judge(evaluation), "accepted");
  EXPECT_EQ(recorded_, Header(text_, "launcher") == "recorded");
  EXPECT_EQ(IsHostMode(evaluation.launcher), Header(text_, "launcher") == "host mode");
  ASSERT_TRUE(evaluation.verify);
  EXPECT_LE(evaluation.verify->max_budget_ratio, 1);
  EXPECT_EQ(evaluation.verify->stage_reached, timed_ ? Stage::kL2 : Stage::kL1);
  if (timed_) {
    for (const std::string& note : Workshop::Get().For(task_).verifier->Notes()) {
      EXPECT_THAT(note, testing::Not(HasSubstr("not compared at the timed")));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Verify, HonestTest, testing::ValuesIn(CasesIn("honest")), CaseName);

// docs/verification_cases.md: which kernels a rule rejects, and which ones limit it.
TEST(Rules, EachNamesWhatItRejectsAndWhatItMustAccept) {
  const std::string page = *ReadFile(OPTIML_SOURCE_DIR "/docs/verification_cases.md");
  std::map<std::string, int> named;
  size_t rules = 0;
  for (size_t begin = 0, end = 0; begin < page.size(); begin = end + 1) {
    end = std::min(page.find('\n', begin), page.size());
    std::vector<std::string> cells;
    for (size_t at = begin; at < end;) {
      const size_t bar = std::min(page.find('|', at), end);
      cells.push_back(page.substr(at, bar - at));
      at = bar + 1;
    }
    if (cells.size() != 5 || cells[3].find('`') == std::string::npos) {
      continue;
    }
    ++rules;
    for (const auto& [cell, folder] : {std::pair(cells[3], "cheats"), {cells[4], "honest"}}) {
      size_t names = 0;
      for (size_t open = cell.find('`'); open != std::string::npos; open = cell.find('`', open)) {
        const size_t close = cell.find('`', open + 1);
        ASSERT_NE(close, std::string::npos);
        const std::string name = cell.substr(open + 1, close - open - 1);
        EXPECT_TRUE(std::filesystem::exists(fmt::format("{}/{}/{}.cu", kCases, folder, name)))
            << name << " is not in " << folder;
        ++named[fmt::format("{}/{}", folder, name)];
        ++names;
        open = close + 1;
      }
      EXPECT_GE(names, 1u) << cells[2] << ": no case of " << folder;
    }
  }
  EXPECT_GE(rules, 30u);
  for (const std::string& file : CasesIn("cheats")) {
    const std::string name = std::filesystem::path(file).stem().string();
    EXPECT_EQ(named["cheats/" + name], 1) << name << " belongs to one rule";
  }
}

std::vector<std::string> TaskNames() {
  std::vector<std::string> names;
  for (const std::string& root : {std::string(kExamples), std::string(kCases) + "/tasks"}) {
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
      if (entry.is_directory()) {
        names.push_back(entry.path().filename().string());
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class TaskTest : public testing::TestWithParam<std::string> {};
TEST_P(TaskTest, PassesItsOwnBattery) {
  if (const std::string missing = Workshop::Get().Missing(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  Bench& bench = Workshop::Get().For(GetParam());
  const auto rows = bench.verifier->Battery();
  ASSERT_TRUE(rows) << rows.error().message();
  int rejected = 0;
  for (const BatteryVerdict& row : *rows) {
    rejected += row.verdict == "rejected" ? 1 : 0;
    EXPECT_NE(row.verdict, "accepted") << row.mutant;
  }
  EXPECT_GE(rejected, 5);
  for (const std::string& dropped : bench.verifier->DroppedCases()) {
    std::printf("left out: %s\n", dropped.c_str());
  }
  Evaluation evaluation;
  bool recorded = false;
  EXPECT_EQ(Verdict(bench, bench.task.source, evaluation, recorded), "accepted");
  double seconds = 0;
  for (const StageTime& time : evaluation.stage_times) {
    seconds += Seconds(time.time).count();
  }
  std::printf("%s: %d cases, %.0f ms from text to verdict\n", GetParam().c_str(),
              evaluation.verify->cases_run, 1000 * seconds);
}
INSTANTIATE_TEST_SUITE_P(Verify, TaskTest, testing::ValuesIn(TaskNames()), CaseName);

TEST(Delivered, AFileThatNvccCompilesPasses) {
  const auto nvcc = FindNvcc();
  if (!nvcc || !Workshop::Get().Missing().empty()) {
    GTEST_SKIP() << "nvcc or NVRTC is not here";
  }
  Bench& bench = Workshop::Get().For("relu");
  Evaluation evaluation;
  const auto prepared = bench.verifier->Prepare(bench.task.source, evaluation);
  ASSERT_TRUE(prepared) << prepared.error().message();
  DeliveredOptions options;
  options.nvcc = nvcc;
  const auto report =
      CheckDelivered(bench.task.folder / bench.task.source.path(), bench.task,
                     std::get<PreparedCandidate>(*prepared), *bench.verifier, options);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->evaluation.accepted());
  EXPECT_EQ(report->nvcc, "compiled by nvcc for sm_90");
}

}  // namespace
}  // namespace optiml
