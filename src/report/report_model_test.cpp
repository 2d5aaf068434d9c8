#include "report/report_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report_numbers.h"
#include "report/sample_run.h"

namespace optiml {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ReportModel, PredictedGainIsNeverCalledFaster) {
  const ReportModel model = MakeReportModel(sample::FinishedRun());
  EXPECT_EQ(model.word, "predicted");
  EXPECT_THAT(model.headline, HasSubstr("predicted"));
  EXPECT_THAT(model.headline, Not(HasSubstr("fast")));
  EXPECT_THAT(model.notes[0], HasSubstr("Nothing here was timed on a GPU"));
}

TEST(ReportModel, PredictedGainCarriesTheModelsErrorBothWays) {
  const ReportModel model = MakeReportModel(sample::FinishedRun());
  ASSERT_TRUE(model.gain);
  EXPECT_NEAR(model.gain->value, 1.2e-3 / 1.9e-4, 1e-9);
  EXPECT_NEAR(model.gain->low, model.gain->value / 1.4, 1e-9);
  EXPECT_NEAR(model.gain->high, model.gain->value * 1.4, 1e-9);
}

TEST(ReportModel, MeasuredGainTakesItsIntervalFromTheTimings) {
  RunRecord run = sample::FinishedRun();
  run.environment.measures_time = true;
  for (auto* evaluation : {&*run.result->root, &*run.result->best}) {
    for (Timing& timing : evaluation->timings) {
      timing.kind = TimingKind::kMeasured;
      timing.low_s = timing.median_s * 0.99;
      timing.high_s = timing.median_s * 1.01;
    }
  }
  const ReportModel model = MakeReportModel(run);
  EXPECT_EQ(model.word, "measured");
  EXPECT_THAT(model.headline, HasSubstr("as fast"));
  EXPECT_NEAR(model.gain->low, model.gain->value * 0.99 / 1.01, 1e-9);
  EXPECT_NEAR(model.gain->high, model.gain->value * 1.01 / 0.99, 1e-9);
}

TEST(ReportModel, TimesStandBesideTheTargetFloor) {
  RunRecord run = sample::FinishedRun();
  run.environment.measures_time = true;
  run.environment.dram_bytes_per_s = 4.5e12;
  run.task.bytes = 5.4e8;
  run.task.reject_floor_s = 1e-4;
  ReportModel model = MakeReportModel(run);
  ASSERT_TRUE(model.floor);
  EXPECT_NEAR(model.floor->target.seconds, 1.2e-4, 1e-12);
  EXPECT_NEAR(*model.floor->times_before, run.result->root->timings[0].median_s / 1.2e-4, 1e-9);
  EXPECT_NEAR(*model.floor->times_after, run.result->best->timings[0].median_s / 1.2e-4, 1e-9);
  EXPECT_THAT(model.notes, Contains(HasSubstr("pin rate 4.5 TB/s")));
  EXPECT_THAT(model.notes, Contains(HasSubstr("Times below 100.0 us")));
  run.environment.peaks.emplace().date = "2026-11-30";
  run.environment.peaks->dram_read_bytes_per_s = 4.05e12;
  run.environment.peaks->fp32_flops_per_s = 6e13;
  model = MakeReportModel(run);
  EXPECT_NEAR(model.floor->target.seconds, 5.4e8 / 4.05e12, 1e-12);
  EXPECT_THAT(model.notes, Contains(HasSubstr("measured peak 4.05 TB/s on 2026-11-30")));
  run.task.bytes.reset();
  run.task.operations.reset();
  EXPECT_FALSE(MakeReportModel(run).floor);
}

TEST(ReportModel, TheRooflineIsOfMeasuredPeaks) {
  RunRecord run = sample::FinishedRun();
  run.task.operations = 1e9;
  run.environment.peaks.emplace().date = "2026-11-30";
  run.environment.peaks->dram_copy_bytes_per_s = 4e12;
  run.environment.peaks->fp32_flops_per_s = 6e13;
  const ReportModel model = MakeReportModel(run);
  ASSERT_TRUE(model.roofline) << model.no_roofline;
  EXPECT_EQ(model.roofline->dram_bytes_per_s, 4e12);
  EXPECT_EQ(model.roofline->fp32_flops_per_s, 6e13);
  EXPECT_THAT(model.roofline->basis, HasSubstr("ceilings measured on 2026-11-30"));
}

TEST(ReportModel, ConditionsOfTheGainAreToldAndThrottlingIsAWarning) {
  RunRecord run = sample::FinishedRun();
  Conditions conditions;
  conditions.before.sm_hz = conditions.after.sm_hz = 1980e6;
  conditions.before.throttling = conditions.after.throttling = std::vector<std::string>();
  run.result->gain_conditions = conditions;
  ReportModel model = MakeReportModel(run);
  EXPECT_THAT(model.notes, Contains(HasSubstr("The gain was measured at: SM clock")));
  EXPECT_THAT(model.notes, Not(Contains(HasSubstr("Warning"))));
  run.result->gain_conditions->after.throttling = {{"thermal slowdown"}};
  model = MakeReportModel(run);
  EXPECT_THAT(model.notes,
              Contains(HasSubstr("Warning: the GPU's clocks were held down")));
}

TEST(ReportModel, ChainDiffsSkipDroppedEdits) {
  const ReportModel model = MakeReportModel(sample::FinishedRun());
  ASSERT_EQ(model.chain.size(), 3u);
  EXPECT_FALSE(model.chain[0].diff.empty());
  EXPECT_TRUE(model.chain[1].diff.empty());
  EXPECT_FALSE(model.chain[1].gain);
  // The third edit is compared with the first one's text, which has the lines it removes.
  ASSERT_FALSE(model.chain[2].diff.empty());
  std::string removed;
  for (const DiffLine& line : model.chain[2].diff[0].lines) {
    removed += line.kind == DiffKind::kRemoved ? std::string(line.text) : "";
  }
  EXPECT_THAT(removed, HasSubstr("c += 256) m = fmaxf"));
  EXPECT_NEAR(*model.chain[2].gain, 3.1e-4 / 1.9e-4, 1e-9);
}

TEST(ReportModel, EditAfterABridgeWithoutTimeIsComparedWithWhatWasBeforeIt) {
  RunRecord run = sample::FinishedRun();
  run.result->chain[0].mark = EditMark::kBridge;
  run.result->chain[0].time_s.reset();
  run.result->chain[0].profile.reset();
  run.result->chain[0].source.clear();
  const ReportModel model = MakeReportModel(run);
  EXPECT_FALSE(model.chain[0].gain);
  EXPECT_TRUE(model.chain[0].diff.empty());
  EXPECT_NEAR(*model.chain[2].gain, 1.2e-3 / 1.9e-4, 1e-9);
  EXPECT_FALSE(model.chain[2].changes.empty());
}

TEST(ReportModel, ClaimsAreCheckedAgainstTheCounters) {
  const ReportModel model = MakeReportModel(sample::FinishedRun());
  const auto& claims = model.chain[0].claims;
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[0].verdict, ClaimCheck::Verdict::kCameTrue);
  EXPECT_EQ(claims[1].verdict, ClaimCheck::Verdict::kNotObtained);  // no occupancy was counted
}

TEST(ReportModel, ACounterThatOneSideLacksIsAbsentThereAndHasNoRatio) {
  const ReportModel model = MakeReportModel(sample::FinishedRun());
  const auto find = [&](const std::string& id) {
    for (const MetricChange& change : model.counters) {
      if (change.id == id) {
        return change;
      }
    }
    ADD_FAILURE() << id;
    return MetricChange{};
  };
  EXPECT_FALSE(find(metric::kL1HitRatio).after);
  EXPECT_FALSE(find(metric::kL1HitRatio).ratio());
  EXPECT_FALSE(find(metric::kSharedLoadWavefronts).before);
  EXPECT_DOUBLE_EQ(*find(metric::kDramReadBytes).ratio(), 0.2);
  EXPECT_EQ(model.counters.back().id, "emulator__odd.sum");
}

TEST(ReportModel, BestPathFollowsTheChain) {
  const ReportModel model = MakeReportModel(sample::FinishedRun());
  std::vector<int64_t> path;
  for (const NodeRow& row : model.nodes) {
    if (row.on_best_path) {
      path.push_back(row.record->id);
    }
  }
  EXPECT_THAT(path, ElementsAre(0, 1, 3, 5));
  EXPECT_TRUE(model.nodes[5].is_best);
  EXPECT_EQ(model.nodes[5].depth, 3);
  EXPECT_THAT(model.nodes[1].children, ElementsAre(3, 4, 7));
}

TEST(ReportModel, UnfinishedRunShowsTheBestSoFarAndSaysSo) {
  const ReportModel model = MakeReportModel(sample::UnfinishedRun());
  EXPECT_THAT(model.headline, HasSubstr("has not ended: 7 candidates"));
  EXPECT_TRUE(model.chain.empty());
  EXPECT_EQ(model.best_source, sample::VectorSource());
}

TEST(ReportModel, RunThatKeptNothingSaysWhy) {
  RunRecord run = sample::FinishedRun();
  run.result->improved = false;
  run.result->reason = "the best predicted gain, 1.2x, is within the model's error";
  run.result->chain.clear();
  run.result->best.reset();
  run.result->best_source.clear();
  const ReportModel model = MakeReportModel(run);
  EXPECT_THAT(model.headline, HasSubstr("No improvement could be kept: the best predicted gain"));
  EXPECT_FALSE(model.gain);
  EXPECT_TRUE(model.best_source.empty());
}

TEST(ReportModel, RunThatHasJustBegunAndFailedRunStillGiveAReport) {
  RunRecord run = sample::UnfinishedRun();
  run.nodes.clear();
  EXPECT_THAT(MakeReportModel(run).headline, HasSubstr("0 candidates"));
  run.state = RunState::kFailed;
  run.failure = "the disk is full";
  EXPECT_THAT(MakeReportModel(run).headline, HasSubstr("the disk is full"));
}

TEST(ReportModel, DeliveredFileThatFailsItsCheckIsNamed) {
  RunRecord run = sample::FinishedRun();
  run.result->delivered = sample::Reject(Stage::kL1, "y differs");
  const ReportModel model = MakeReportModel(run);
  EXPECT_THAT(model.notes, Contains(HasSubstr("delivered failed at L1: y differs")));
}

TEST(ReportModel, RooflineUsesCountedBytesAndOperations) {
  const ReportModel model = MakeReportModel(sample::FinishedRun());
  ASSERT_TRUE(model.roofline);
  ASSERT_EQ(model.roofline->points.size(), 2u);
  EXPECT_NEAR(model.roofline->points[0].operations_per_byte, 6e8 / (1.6e9 + 2.7e8), 1e-9);
  EXPECT_NEAR(model.roofline->points[0].operations_per_second, 6e8 / 1.2e-3, 1);
}

TEST(ReportModel, KernelWithoutOperationsHasNoRoofline) {
  RunRecord run = sample::FinishedRun();
  for (auto* evaluation : {&*run.result->root, &*run.result->best}) {
    evaluation->profile->metrics.erase(metric::kFfmaInstructions);
  }
  const ReportModel model = MakeReportModel(run);
  EXPECT_FALSE(model.roofline);
  EXPECT_THAT(model.no_roofline, HasSubstr("no floating-point work"));
}

TEST(ReportModel, StageSharesAddUpToTheWallTime) {
  const ReportModel model = MakeReportModel(sample::UnfinishedRun());
  EXPECT_NEAR(model.total_seconds, 8 * 0.6, 1e-9);
  EXPECT_EQ(model.stage_shares.back().name, "search, proposals, store");
}

TEST(ReproduceCommand, NamesEveryOptionAndQuotes) {
  RunRecord run = sample::UnfinishedRun();
  run.options["timed"] = "rows=1\nrows=2";
  run.options["unconfined"] = "true";
  EXPECT_EQ(
      ReproduceCommand(run),
      "optiml optimize 'examples/row things' --candidates 9 --no-judge --search mcts --seed 1 "
      "--timed rows=1 --timed rows=2 --unconfined");
}

TEST(FirstEvidence, NamesTheElementOrTheFinding) {
  EXPECT_EQ(FirstEvidence(sample::RejectWithMismatch()),
            "y[0, 999]: expected 0.25, got nothing (never written); 33 elements differ (cols=1000 "
            "rows=33, fill normal, seed 2)");
  EXPECT_EQ(FirstEvidence(sample::RejectWithFinding()),
            "race in row_kernel line 9: threads 3 and 131 of block 0 both use part[3]");
  EXPECT_EQ(FirstEvidence(sample::Reject(Stage::kParse, "x")), "");
}

TEST(ReportModel, CountersOfTwoSourcesAreNotCompared) {
  RunRecord run = sample::FinishedRun();
  run.environment.measures_time = true;
  run.result->root->profile->source = ProfileSource::kCupti;
  run.result->best->profile->source = ProfileSource::kCupti;
  const ReportModel same = MakeReportModel(run);
  EXPECT_THAT(same.notes, Contains("Counters are by CUPTI."));
  EXPECT_TRUE(std::ranges::any_of(same.counters, [](const MetricChange& change) {
    return change.before.has_value() && change.after.has_value();
  }));
  run.result->best->profile->source = ProfileSource::kEmulator;
  const ReportModel other = MakeReportModel(run);
  EXPECT_THAT(
      other.notes,
      Contains(
          "Counters before are by CUPTI, those after by the emulator: they are not compared."));
  EXPECT_FALSE(other.counters.empty());
  for (const MetricChange& change : other.counters) {
    EXPECT_FALSE(change.before) << change.id;
  }
}

TEST(ReportModel, WhereADevicesTimeWentIsTold) {
  RunRecord run = sample::FinishedRun();
  EXPECT_TRUE(DeviceLines(run).empty());
  run.result->search_s = 10;
  run.result->search_candidates = 30;
  run.result->devices = {{"GPU 0", 4, {{"contents", 1}, {"samples", 2.5}, {"load", 0.01}}},
                         {"GPU 1", 12, {}}};
  EXPECT_THAT(DeviceLines(run),
              ElementsAre(
                  "30 candidates in 10.0 s of search: 180 a minute.",
                  "GPU 0 was busy for 4.0 s, idle for 60.0 % of the search; times took: samples "
                  "2.5 s, contents 1.0 s.",
                  "GPU 1 was busy for 12.0 s, idle for 0.0 % of the search."));
}

}  // namespace
}  // namespace optiml
