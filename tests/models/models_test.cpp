// What a language model proposes, on real tasks and with the real engines: NVRTC, the emulator, the
// confined references. A folder here is an example with edits.json, proposals as a model would send
// them; a source "@FILE" stands for the file's text. Nothing here knows a folder by name.
//
// wrong/ has kernels for one example that have to be rejected, at the stage and for the reason that
// their first lines say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/file_system.h"
#include "build/builder.h"
#include "device/emulator_device.h"
#include "llm/scripted_chat_model.h"
#include "optimize/session.h"
#include "store/run_store.h"
#include "task/reference.h"
#include "task/task.h"

namespace optiml {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

const fs::path kExamples = OPTIML_SOURCE_DIR "/examples";
const fs::path kCases = OPTIML_SOURCE_DIR "/tests/models";

std::vector<std::string> Folders() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(kCases)) {
    if (fs::exists(entry.path() / "edits.json")) {
      names.insert(entry.path().filename().string());
    }
  }
  return {names.begin(), names.end()};
}

Json EditsOf(const std::string& name) {
  Json edits = Json::parse(*ReadFile(kCases / name / "edits.json"));
  for (Json& edit : edits) {
    const std::string source = edit.value("source", "");
    if (source.starts_with("@")) {
      edit["source"] = *ReadFile(kCases / name / source.substr(1));
    }
  }
  return edits;
}

Json KernelEdit(const std::string& source) {
  return {{"kind", "kernel"},
          {"source", source},
          {"why", "faster"},
          {"aims_at", "memory"},
          {"claim", {{{"metric", "smsp__inst_executed.sum"}, {"direction", "down"}}}},
          {"prior", 1}};
}

// "// key: value" among the first lines of a case.
std::string Header(const std::string& text, const std::string& key) {
  const std::string mark = "// " + key + ": ";
  const size_t at = text.find(mark);
  return at == std::string::npos
             ? ""
             : text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
}

// One example with what a run of it needs.
class Bench {
 public:
  explicit Bench(const std::string& name)
      : folder_(*TemporaryDirectory::Create("optiml-models-")),
        builder_(MakeNvrtcBuilder({})),
        device_(*MakeEmulatorDevice({})),
        task_(*LoadTask(kExamples / name, {})) {
    ReferenceOptions options;
    options.cache_directory = folder_.path();
    auto reference = MakeHostReference(task_, options);
    EXPECT_TRUE(reference) << reference.error().message();
    reference_ = *std::move(reference);
    options_.verifier.recorder.cache_directory = folder_.path();
    options_.verifier.seeds = 1;
  }

  std::string Missing() {
    const auto toolchain = builder_->Toolchain();
    return toolchain ? "" : toolchain.error().message();
  }

  // A run of its own, from begin to end. `proposer` may be null.
  RunRecord Run(int candidates, ChatModel* proposer) {
    options_.budget.candidates = candidates;
    RunRecord header;
    header.id = RunId{"run"};
    header.task.name = task_.name;
    header.task.hash = task_.hash.Hex();
    header.task.source = task_.source.text();
    header.options = FormatSessionOptions(options_);
    const fs::path file = folder_.path() / ("run" + std::to_string(runs_++) + ".sqlite");
    auto store = RunStore::Create(file, header);
    EXPECT_TRUE(store) << store.error().message();
    SessionParts parts;
    parts.task = &task_;
    parts.builder = builder_.get();
    parts.device = device_.get();
    parts.reference = reference_.get();
    parts.clock = &clock_;
    parts.store = store->get();
    parts.models[ModelRole::kProposer] = proposer;
    auto record = RunSession(parts, options_, *(*store)->Load());
    EXPECT_TRUE(record) << record.error().message();
    return record ? *std::move(record) : RunRecord();
  }

 private:
  TemporaryDirectory folder_;
  std::unique_ptr<Builder> builder_;
  std::unique_ptr<Device> device_;
  KernelTask task_;
  std::unique_ptr<HostReference> reference_;
  SystemClock clock_;
  SessionOptions options_;
  int runs_ = 0;
};

// Proposes these edits at the root, and is gone afterwards.
ScriptedChatModel Proposing(const Json& edits) {
  return ScriptedChatModel(std::deque<std::string>{Json{{"edits", edits}}.dump()});
}

// Kernels that were evaluated, whether or not the search saw them.
int Evaluated(const RunRecord& record) {
  auto count = static_cast<int>(record.trials.size());
  for (const NodeRecord& node : record.nodes) {
    const bool was_trial =
        std::any_of(record.trials.begin(), record.trials.end(), [&](const TrialRecord& trial) {
          return trial.kept && trial.node == node.parent && trial.edit.Label() == node.edit.Label();
        });
    count += node.id > 0 && node.duplicate_of < 0 && !was_trial ? 1 : 0;
  }
  return count;
}

std::string TreeText(const RunRecord& record) {
  std::string text;
  for (const NodeRecord& node : record.nodes) {
    text += std::to_string(node.id) + "<-" + std::to_string(node.parent) + " " + node.edit.Label() +
            " " + node.evaluation.source_hash.Hex() + " " + std::to_string(node.reward.total) +
            "\n";
  }
  return text;
}

class Proposals : public ::testing::TestWithParam<std::string> {};

// Each proposal passes all gates, is kept by its measure, and what comes of it is delivered.
TEST_P(Proposals, PassTheGatesOfAnyCandidate) {
  constexpr int kCandidates = 4;
  Bench bench(GetParam());
  if (!bench.Missing().empty()) {
    GTEST_SKIP() << bench.Missing();
  }
  const Json edits = EditsOf(GetParam());
  ScriptedChatModel model = Proposing(edits);
  const RunRecord with = bench.Run(kCandidates, &model);
  ASSERT_EQ(with.trials.size(), edits.size());
  for (const TrialRecord& trial : with.trials) {
    EXPECT_TRUE(trial.kept) << trial.edit.Label() << ": " << trial.reason;
    ASSERT_TRUE(trial.evaluation.verify);
    EXPECT_GT(trial.evaluation.verify->cases_run, 0);
  }
  EXPECT_EQ(with.nodes[1].edit.origin, EditOrigin::kModel);
  ASSERT_TRUE(with.result);
  EXPECT_TRUE(with.result->improved) << with.result->reason;
  ASSERT_TRUE(with.result->delivered);
  EXPECT_TRUE(with.result->delivered->accepted());
  const auto replayed = ReplaySearch(with);
  EXPECT_TRUE(replayed) << replayed.error().message();
  std::printf("%s: %.2f times as fast with the model\n", GetParam().c_str(), with.result->gain);
}

INSTANTIATE_TEST_SUITE_P(Examples, Proposals, ::testing::ValuesIn(Folders()),
                         [](const auto& test) { return test.param; });

// At equal numbers of kernels that are evaluated: one, where it matters most what it is.
TEST(Models, BeatTheCatalogueAloneSomewhere) {
  constexpr int kCandidates = 1;
  int better = 0;
  for (const std::string& name : Folders()) {
    Bench bench(name);
    if (!bench.Missing().empty()) {
      GTEST_SKIP() << bench.Missing();
    }
    ScriptedChatModel model = Proposing(EditsOf(name));
    const RunRecord with = bench.Run(kCandidates, &model);
    const RunRecord without = bench.Run(kCandidates, nullptr);
    ASSERT_TRUE(with.result && without.result);
    std::printf("%s: %.2f with the model, %.2f without\n", name.c_str(), with.result->gain,
                without.result->gain);
    const bool comparable = with.result->improved && Evaluated(with) <= Evaluated(without);
    better += comparable && with.result->gain > 1.02 * without.result->gain ? 1 : 0;
  }
  EXPECT_GE(better, 1);
}

// Kernels that plead, cheat or are wrong: each is rejected where it has to be, and the search goes
// on as if there had been no model.
TEST(Models, NothingUnverifiedIsKept) {
  constexpr int kCandidates = 3;
  const std::string name = Header(*ReadFile(kCases / "wrong" / "README"), "example");
  Bench bench(name);
  if (!bench.Missing().empty()) {
    GTEST_SKIP() << bench.Missing();
  }
  const RunRecord without = bench.Run(kCandidates, nullptr);
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(kCases / "wrong")) {
    if (entry.path().extension() != ".cu") {
      continue;
    }
    ++cases;
    const std::string source = *ReadFile(entry.path());
    ScriptedChatModel model = Proposing(Json::array({KernelEdit(source)}));
    const RunRecord with = bench.Run(kCandidates, &model);
    ASSERT_EQ(with.trials.size(), 1U) << entry.path();
    const Rejection* rejection = with.trials[0].evaluation.rejection();
    ASSERT_NE(rejection, nullptr) << entry.path();
    EXPECT_EQ(StageName(rejection->stage), Header(source, "stage"))
        << entry.path() << ": " << rejection->reason;
    EXPECT_THAT(rejection->reason, HasSubstr(Header(source, "reason"))) << entry.path();
    EXPECT_EQ(TreeText(with), TreeText(without)) << entry.path();
    EXPECT_EQ(with.result->best_source, without.result->best_source) << entry.path();
  }
  EXPECT_GE(cases, 5);
}

}  // namespace
}  // namespace optiml
