#include "optimize/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimize/scripted_run.h"

namespace optiml {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ChainText(const RunResult& result) {
  std::string text;
  for (const ChainStep& step : result.chain) {
    text += step.edit.rewrite + ":" + EditMarkName(step.mark) + " ";
  }
  return text;
}

TEST(Session, FindsTheGoodEditAndKeepsIt) {
  ScriptedRun run(AIsGood());
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_EQ(record->state, RunState::kFinished);
  ASSERT_TRUE(record->result);
  EXPECT_TRUE(record->result->improved) << record->result->reason;
  EXPECT_EQ(ChainText(*record->result), "a:KEEP ");
  EXPECT_EQ(record->result->best_source, "a");
  EXPECT_NEAR(record->result->gain, 2, 1e-9);
  EXPECT_THAT(record->result->reason, HasSubstr("predicted 2.00 times as fast"));
  EXPECT_DOUBLE_EQ(*record->result->chain[0].time_s, 0.5e-3);
  EXPECT_DOUBLE_EQ(*record->result->chain[0].time_without_s, 1e-3);
  EXPECT_EQ(record->result->chain[0].source, "a");
  ASSERT_TRUE(record->result->delivered);
  EXPECT_TRUE(record->result->delivered->accepted());
  EXPECT_EQ(record->result->delivered_note, "nvcc not present");
  ASSERT_EQ(record->battery.size(), 2U);
  EXPECT_EQ(record->battery[1].verdict, "left out");
  ASSERT_EQ(record->lifts.size(), 1U);
  EXPECT_TRUE(record->lifts[0].lifted);
  EXPECT_EQ(record->nodes[0].evaluation.diagnosis->bound, Bound::kMemory);
}

TEST(Session, EndsWhenTheCandidatesAreUsedUp) {
  ScriptedRun run(AIsGood());
  run.options.budget.candidates = 4;
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->nodes.size(), 5U);
  EXPECT_EQ(record->result->stop_reason, "candidates");
}

TEST(Session, AnsweredCandidatesDoNotUseUpTheBudgetButEnd) {
  Script script;
  script.edits = {"a", "b", "c", "d"};
  script.same_ptx = {{"b", "root"}, {"c", "root"}};
  ScriptedRun run(script);
  run.options.budget.candidates = 4;
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  const auto twins = std::count_if(record->nodes.begin(), record->nodes.end(),
                                   [](const NodeRecord& node) { return node.duplicate_of >= 0; });
  EXPECT_GT(twins, 0);
  EXPECT_EQ(record->nodes.size(), 5U + static_cast<size_t>(twins));

  for (const std::string text : {"a", "b", "c", "d"}) {
    run.script.same_ptx[text] = "root";
  }
  const Result<RunRecord> all_twins = run.Go();
  ASSERT_TRUE(all_twins);
  EXPECT_EQ(all_twins->nodes.size(), 5U);
  EXPECT_EQ(all_twins->result->stop_reason, "exhausted");
}

TEST(Session, EndsWhenTheWallTimeIsUsedUp) {
  Script script = AIsGood();
  FakeClock* clock = nullptr;
  script.on_verify = [&clock] { clock->Advance(std::chrono::seconds(10)); };
  ScriptedRun run(script);
  clock = &run.clock;
  run.options.budget.wall_time = std::chrono::seconds(25);
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->result->stop_reason, "wall time");
  EXPECT_EQ(record->nodes.size(), 3U);  // the root at 10 s, then 20 s, then 30 s
}

TEST(Session, EndsWhenNothingIsLeftToTry) {
  ScriptedRun run(AIsGood());
  run.options.budget.candidates = 1000;
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->result->stop_reason, "exhausted");
  EXPECT_EQ(record->nodes.size(), 1U + 3 + 6 + 6);  // every order of three edits
}

TEST(Session, RejectedCandidatesAreTheStoresAndAreNotExpanded) {
  Script script = AIsGood();
  script.rejected = {"a"};
  script.illegal = {"b"};
  ScriptedRun run(script);
  run.options.budget.candidates = 1000;
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  int seen = 0;
  for (const NodeRecord& node : record->nodes) {
    EXPECT_FALSE(node.source.starts_with("a+")) << node.source;
    EXPECT_FALSE(node.source.starts_with("b+")) << node.source;
    if (node.source == "a") {
      EXPECT_EQ(node.evaluation.rejection()->stage, Stage::kL1);
      EXPECT_LT(node.reward.total, -5);
      ++seen;
    }
    if (node.edit.rewrite == "b" && node.parent == 0) {
      EXPECT_EQ(node.evaluation.rejection()->stage, Stage::kApply);
      EXPECT_EQ(node.evaluation.rejection()->reason, "not legal here");
      EXPECT_EQ(node.source, "");
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(record->result->best_source, "c+a");
}

TEST(Session, ARegressionThatALaterEditNeedsIsABridge) {
  Script script;
  script.edits = {"a", "b"};
  script.time = [](const std::string& text) {
    return text == "a+b" ? 0.2e-3 : Has(text, "a") ? 1.5e-3 : Has(text, "b") ? 1.2e-3 : 1e-3;
  };
  ScriptedRun run(script);
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_EQ(ChainText(*record->result), "a:BRIDGE b:KEEP ");
  EXPECT_NEAR(record->result->gain, 5, 1e-9);
  EXPECT_DOUBLE_EQ(*record->result->chain[0].time_s, 1.5e-3);
  EXPECT_THAT(record->result->chain[0].note, HasSubstr("a step back that a later edit needs"));
}

TEST(Session, LeaveOneOutDropsAnEditWithoutGain) {
  Script script;
  script.edits = {"a", "b"};
  script.rejected = {"b"};  // so that the good edit is reached behind the idle one only
  script.illegal = {};
  script.time = [](const std::string& text) {
    // Behind "a" the edit "b" is worth a lot; alone it is not found because it is rejected.
    return text == "a+b" ? 0.3e-3 : text == "a" ? 0.31e-3 : 1e-3;
  };
  ScriptedRun idle_second(script);
  const Result<RunRecord> needs_both = idle_second.Go();
  ASSERT_TRUE(needs_both);
  EXPECT_EQ(ChainText(*needs_both->result), "a:KEEP b:KEEP ");

  script.time = [](const std::string& text) {
    return text == "a+b" ? 0.3e-3 : text == "a" ? 0.301e-3 : 1e-3;  // b is worth a third of 1 %
  };
  ScriptedRun run(script);
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_EQ(ChainText(*record->result), "a:KEEP b:DROPPED ");
  EXPECT_EQ(record->result->best_source, "a");
  EXPECT_THAT(record->result->chain[1].note, HasSubstr("no gain"));
  EXPECT_DOUBLE_EQ(*record->result->chain[1].time_without_s, 0.301e-3);
}

TEST(Session, DropsTheFirstEditOfAChainToo) {
  Script script;
  script.edits = {"a", "b"};
  // "b" alone would do, but the search meets it behind "a" only at the end of the tree.
  script.time = [](const std::string& text) {
    return text == "a+b" ? 0.300e-3 : text == "b" ? 0.301e-3 : 1e-3;
  };
  ScriptedRun run(script);
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_EQ(ChainText(*record->result), "a:DROPPED b:KEEP ");
  EXPECT_EQ(record->result->best_source, "b");
  EXPECT_EQ(record->result->chain[0].source, "root");
}

TEST(Session, WithoutAFasterCandidateThereIsNoImprovement) {
  ScriptedRun run(Script{});
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->result->improved);
  EXPECT_EQ(record->result->best_source, "root");
  EXPECT_TRUE(record->result->chain.empty());
  EXPECT_THAT(record->result->reason, HasSubstr("none of 12 candidates was faster"));
  EXPECT_EQ(record->state, RunState::kFinished);
}

TEST(Session, APredictedGainWithinTheModelsErrorIsNotKept) {
  Script script = AIsGood();
  ScriptedRun run(script);
  run.device.info.prediction_error_factor = 2.5;
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->result->improved);
  EXPECT_EQ(record->result->best_source, "root");
  EXPECT_THAT(record->result->reason, HasSubstr("does not exceed the time model's stated error"));
  EXPECT_EQ(ChainText(*record->result), "a:DROPPED ");
  EXPECT_FALSE(record->result->delivered);
}

TEST(Session, AMeasuredGainIsKeptByItsIntervalsAlone) {
  Script script;
  script.time = [](const std::string& text) { return Has(text, "a") ? 0.88e-3 : 1e-3; };
  ScriptedRun run(script);
  run.device.info.capabilities.measures_time = true;
  run.device.info.prediction_error_factor = 1;
  const Result<RunRecord> clear = run.Go();  // 0.95 / (0.88 * 1.05) > 1
  ASSERT_TRUE(clear);
  EXPECT_TRUE(clear->result->improved) << clear->result->reason;
  EXPECT_THAT(clear->result->reason, HasSubstr("measured"));
  run.script.time = [](const std::string& text) { return Has(text, "a") ? 0.95e-3 : 1e-3; };
  const Result<RunRecord> overlapping = run.Go();
  ASSERT_TRUE(overlapping);
  EXPECT_FALSE(overlapping->result->improved);
}

TEST(Session, AFailedDeliveryIsNoImprovement) {
  Script script = AIsGood();
  ScriptedRun run(script);
  // The second verification of the best text, the one as delivered, meets a broken file.
  run.script.on_verify = [&run] {
    if (!run.progress.empty() && run.progress.back().phase == Progress::Phase::kDelivered) {
      run.script.rejected.insert("a");
    }
  };
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->result->improved);
  EXPECT_EQ(record->result->best_source, "root");
  EXPECT_THAT(record->result->reason, HasSubstr("as delivered failed: y[0] is 1"));
  EXPECT_FALSE(record->result->delivered->accepted());
}

TEST(Session, EqualCandidatesAreAnsweredOnce) {
  Script script = AIsGood();
  script.same_ptx = {{"b", "root"}, {"c", "root"}};
  script.grid = {{"c", 2}};  // the same PTX, launched otherwise
  ScriptedRun run(script);
  run.options.budget.candidates = 1000;
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  for (const NodeRecord& node : record->nodes) {
    if (node.source == "b") {
      EXPECT_EQ(node.duplicate_of, 0);
      EXPECT_TRUE(node.evaluation.from_store);
      EXPECT_EQ(node.variant, VariantId(0));
    }
    if (node.source == "c") {
      EXPECT_EQ(node.duplicate_of, -1);
    }
    EXPECT_FALSE(node.source.starts_with("b+"));
  }
  EXPECT_THAT(run.verified, Not(Contains("b")));
  EXPECT_THAT(run.verified, Contains("c"));
}

TEST(Session, ReportsEveryStep) {
  ScriptedRun run(AIsGood());
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  using Phase = Progress::Phase;
  std::vector<Phase> phases;
  for (const Progress& step : run.progress) {
    if (phases.empty() || phases.back() != step.phase) {
      phases.push_back(step.phase);
    }
  }
  EXPECT_THAT(phases, testing::ElementsAre(Phase::kBattery, Phase::kRoot, Phase::kSearch,
                                           Phase::kChain, Phase::kDelivered, Phase::kDone));
  const Progress& last = run.progress.back();
  EXPECT_EQ(last.candidates_done, 12);
  EXPECT_NEAR(last.root_time_s, 1e-3, 1e-9);
  EXPECT_NEAR(last.best_time_s, 0.5e-3, 1e-9);
  EXPECT_FALSE(last.measured);
  int with_last = 0;
  for (const Progress& step : run.progress) {
    with_last += step.phase == Phase::kSearch && Has(step.last, "a: predicted gain 2.00x") ? 1 : 0;
  }
  EXPECT_EQ(with_last, 1);
}

TEST(Session, AnInterruptedRunGoesOnToTheSameEnd) {
  ScriptedRun whole(AIsGood());
  const Result<RunRecord> expected = whole.Go();
  ASSERT_TRUE(expected);
  // Stopped within the verification number k, for every k.
  for (int k = 1; k <= 16; ++k) {
    ScriptedRun run(AIsGood());
    MemoryStore store(run.Header());
    int verifications = 0;
    run.script.on_verify = [&] { run.stop = ++verifications == k; };
    const Result<RunRecord> stopped = run.Go(store);
    ASSERT_TRUE(stopped) << stopped.error().message();
    if (stopped->state == RunState::kFinished) {
      EXPECT_GT(k, 8);
      break;
    }
    EXPECT_EQ(stopped->state, RunState::kInterrupted);
    EXPECT_FALSE(stopped->result);
    run.stop = false;
    run.script.on_verify = [] {};
    const Result<RunRecord> resumed = run.Go(store);
    ASSERT_TRUE(resumed) << resumed.error().message();
    EXPECT_EQ(resumed->state, RunState::kFinished);
    EXPECT_EQ(TreeText(*resumed), TreeText(*expected)) << k;
    EXPECT_EQ(resumed->result->best_source, expected->result->best_source);
    EXPECT_EQ(ChainText(*resumed->result), ChainText(*expected->result));
    EXPECT_EQ(resumed->battery.size(), 2U);
  }
}

// A kill is a store that ends after any one write, seen from the next process.
// With one candidate at a time, and with several under way.
class KilledSession : public ::testing::TestWithParam<int> {};

TEST_P(KilledSession, AKillAfterAnyWriteResumesToTheSameEnd) {
  ScriptedRun whole(AIsGood());
  whole.options.in_flight = GetParam();
  MemoryStore whole_store(whole.Header());
  const Result<RunRecord> expected = whole.Go(whole_store);
  ASSERT_TRUE(expected);
  ASSERT_GT(whole_store.writes, 20);
  for (int k = 0; k < whole_store.writes; ++k) {
    ScriptedRun run(AIsGood());
    run.options.in_flight = GetParam();
    MemoryStore store(run.Header());
    store.fail_at = k;
    const Result<RunRecord> killed = run.Go(store);
    ASSERT_FALSE(killed);
    EXPECT_THAT(killed.error().message(), HasSubstr("the disk is full"));
    store.fail_at = -1;
    const Result<RunRecord> resumed = run.Go(store);
    ASSERT_TRUE(resumed) << k << ": " << resumed.error().message();
    EXPECT_EQ(TreeText(*resumed), TreeText(*expected)) << k;
    EXPECT_EQ(resumed->expansions.size(), expected->expansions.size());
    EXPECT_EQ(resumed->result->best_source, "a");
    EXPECT_EQ(resumed->state, RunState::kFinished);
    EXPECT_TRUE(ReplaySearch(*resumed)) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(InFlight, KilledSession, ::testing::Values(1, 2, 5));

TEST(Session, CandidatesAreBuiltWhileOthersAreMeasured) {
  ScriptedRun run(AIsGood());
  run.options.in_flight = 3;
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_EQ(record->result->best_source, "a");
  const size_t told = record->nodes.size();
  for (size_t i = 1; i < told; ++i) {
    EXPECT_EQ(record->nodes[i].id, static_cast<int64_t>(i));  // told in the order asked
    EXPECT_LE(record->nodes[i].asked, static_cast<int64_t>(i) + 2);
  }
  EXPECT_EQ(record->nodes[1].asked, 3);
  EXPECT_EQ(record->nodes[told - 1].asked, static_cast<int64_t>(told) - 1);  // none is left over
}

// Nothing left to ask while others are under way: what was expanded for that is in the record.
TEST(Session, ARunThatExhaustsItsEditsReplaysWithSeveralUnderWay) {
  for (const int in_flight : {2, 3, 5}) {
    Script script = AIsGood();
    script.edits = {"a", "b"};
    ScriptedRun run(script);
    run.options.in_flight = in_flight;
    run.options.budget.candidates = 100;
    MemoryStore store(run.Header());
    const Result<RunRecord> record = run.Go(store);
    ASSERT_TRUE(record) << record.error().message();
    EXPECT_EQ(record->result->stop_reason, "exhausted");
    const Result<int64_t> replayed = ReplaySearch(*record);
    EXPECT_TRUE(replayed) << in_flight << ": " << replayed.error().message();
    // A resume at each node goes the same way.
    for (size_t told = 1; told < record->nodes.size(); ++told) {
      ScriptedRun again(script);
      again.options = run.options;
      MemoryStore cut(run.Header());
      cut.record = *record;
      cut.record.result.reset();
      cut.record.nodes.resize(told);
      const int64_t expanded = told > 1 ? cut.record.nodes.back().expanded : 0;
      cut.record.expansions.resize(static_cast<size_t>(expanded));
      const Result<RunRecord> resumed = again.Go(cut);
      ASSERT_TRUE(resumed) << in_flight << ", " << told << ": " << resumed.error().message();
      EXPECT_EQ(TreeText(*resumed), TreeText(*record));
    }
  }
}

TEST(Session, ABudgetThatGrowsGoesOnFromWhatWasUnderWayThen) {
  ScriptedRun run(AIsGood());
  run.options.in_flight = 4;
  run.options.budget.candidates = 6;
  MemoryStore store(run.Header());
  ASSERT_TRUE(run.Go(store));
  run.options.budget.candidates = 12;
  store.record.options = FormatSessionOptions(run.options);
  const Result<RunRecord> longer = run.Go(store);
  ASSERT_TRUE(longer) << longer.error().message();
  EXPECT_GT(longer->nodes.size(), 7U);
  EXPECT_TRUE(ReplaySearch(*longer));
}

TEST(Session, AResumeDoesNotDoWorkAgain) {
  ScriptedRun run(AIsGood());
  MemoryStore store(run.Header());
  int verifications = 0;
  run.script.on_verify = [&] { run.stop = ++verifications == 5; };
  ASSERT_TRUE(run.Go(store));
  const size_t told = store.record.nodes.size();
  ASSERT_GE(told, 3U);
  run.stop = false;
  run.script.on_verify = [] {};
  ASSERT_TRUE(run.Go(store));
  EXPECT_EQ(run.batteries, 0);
  EXPECT_THAT(run.verified, Not(Contains("root")));
  for (size_t i = 1; i < told; ++i) {
    const std::string& text = store.record.nodes[i].source;
    // The best one is verified once more, as delivered.
    EXPECT_LE(std::count(run.verified.begin(), run.verified.end(), text), text == "a" ? 1 : 0);
  }
}

TEST(Session, AFinishedRunIsLeftAloneUnlessItsBudgetGrew) {
  ScriptedRun run(AIsGood());
  run.options.budget.candidates = 4;
  MemoryStore store(run.Header());
  ASSERT_TRUE(run.Go(store));
  const int writes = store.writes;
  ASSERT_TRUE(run.Go(store));
  EXPECT_EQ(store.writes, writes);
  run.options.budget.candidates = 6;
  const Result<RunRecord> more = run.Go(store);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->nodes.size(), 7U);
}

TEST(Session, AChangedTaskIsRefused) {
  ScriptedRun run(AIsGood());
  MemoryStore store(run.Header());
  run.task.hash = ContentHash::Of("another");
  const Result<RunRecord> record = run.Go(store);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(record.error().message(), HasSubstr("has changed since the run"));
}

TEST(Session, ARejectedRootIsTheUsersError) {
  Script script = AIsGood();
  script.rejected = {"root"};
  ScriptedRun run(script);
  MemoryStore store(run.Header());
  const Result<RunRecord> record = run.Go(store);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(record.error().message(),
            "kernel.cu: the task's own kernel is rejected at L1: y[0] is 1, expected 2");
  EXPECT_EQ(store.record.state, RunState::kFailed);
  EXPECT_THAT(store.record.failure, HasSubstr("rejected at L1"));
}

TEST(Session, ABrokenDeviceEndsTheRunResumably) {
  ScriptedRun run(AIsGood());
  MemoryStore store(run.Header());
  const auto working = run.device.on_time;
  int calls = 0;
  run.device.on_time = [&](const RunRequest& request) -> Result<TimeOutcome> {
    if (++calls == 9) {
      return Error(ErrorCode::kUnavailable, "the device was lost");
    }
    return working(request);
  };
  const Result<RunRecord> record = run.Go(store);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().message(), "the device was lost");
  EXPECT_EQ(store.record.state, RunState::kFailed);
  const Result<RunRecord> resumed = run.Go(store);
  ASSERT_TRUE(resumed) << resumed.error().message();
  EXPECT_EQ(resumed->result->best_source, "a");
  EXPECT_EQ(resumed->failure, "");
}

TEST(Session, AKernelThatCannotBeTimedIsRejected) {
  ScriptedRun run(AIsGood());
  const auto working = run.device.on_time;
  run.device.on_time = [&](const RunRequest& request) -> Result<TimeOutcome> {
    if (request.artifact->ptx == "b") {
      TimeOutcome outcome;
      outcome.status = RunStatus::kUnsupported;
      outcome.reason = "tex.2d is not known";
      return outcome;
    }
    return working(request);
  };
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record);
  for (const NodeRecord& node : record->nodes) {
    if (node.source == "b") {
      ASSERT_FALSE(node.evaluation.accepted());
      EXPECT_EQ(node.evaluation.rejection()->stage, Stage::kMeasure);
      EXPECT_EQ(node.evaluation.rejection()->reason, "n=8: unsupported: tex.2d is not known");
    }
  }
}

TEST(Session, EverySearcherRunsThroughTheSameLoop) {
  for (const char* strategy : {"mcts", "greedy", "random"}) {
    ScriptedRun run(AIsGood());
    run.options.search.strategy = strategy;
    const Result<RunRecord> record = run.Go();
    ASSERT_TRUE(record) << record.error().message();
    EXPECT_EQ(record->result->best_source, "a") << strategy;
  }
  ScriptedRun unknown(AIsGood());
  unknown.options.search.strategy = "none";
  const Result<RunRecord> refused = unknown.Go();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("unknown search strategy"));
}

TEST(Session, ASiblingOfTheRootMayBeTheBetterStart) {
  Script script;
  script.time = [](const std::string& text) {
    return Has(text, "other") ? (Has(text, "+a") ? 0.3e-3 : 1.2e-3)
           : Has(text, "a")   ? 0.9e-3
                              : 1e-3;
  };
  ScriptedRun run(script);
  run.siblings = {"other", "root", "broken"};
  run.options.budget.candidates = 60;
  run.script.rejected = {"broken"};
  const Result<RunRecord> record = run.Go();
  ASSERT_TRUE(record) << record.error().message();
  // The task's own text is no sibling of itself.
  EXPECT_EQ(record->expansions[0].edits.size(), 5U);
  EXPECT_EQ(record->expansions[0].edits[3].summary, "start from samples/1.cu");
  EXPECT_EQ(record->result->best_source, "other+a");
  EXPECT_THAT(ChainText(*record->result), ::testing::StartsWith("kernel:BRIDGE "));
  EXPECT_THAT(ChainText(*record->result), ::testing::EndsWith("a:KEEP "));
  const bool rejected = std::ranges::any_of(record->nodes, [](const NodeRecord& node) {
    return node.edit.text == "broken" && !node.evaluation.accepted();
  });
  EXPECT_TRUE(rejected);
  EXPECT_TRUE(ReplaySearch(*record));
}

}  // namespace
}  // namespace optiml
