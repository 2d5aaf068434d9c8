#include "report/model_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "report/report.h"
#include "report/sample_run.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ExchangeRecord Exchange(const std::string& role, const std::string& outcome, double dollars) {
  ExchangeRecord exchange;
  exchange.role = role;
  exchange.model = "m<1>";
  exchange.request = "?";
  exchange.outcome = outcome;
  exchange.prompt_tokens = 900;
  exchange.completion_tokens = 100;
  exchange.dollars = dollars;
  return exchange;
}

// The sample run, whose first edit came from a model; a second one of it failed.
RunRecord RunWithModels() {
  RunRecord run = sample::FinishedRun();
  run.exchanges = {Exchange("proposer", "used", 0.25), Exchange("proposer", "no JSON", 0.25),
                   Exchange("judge", "used", 0)};
  ExchangeRecord note;
  note.role = "judge";
  note.model = "m<1>";
  note.failure = "no route";
  note.outcome = "the run goes on with the mechanical judge";
  run.exchanges.push_back(note);
  TrialRecord kept;
  kept.node = 0;
  kept.edit = run.nodes[1].edit;
  kept.note = {"m<1>", Opinion{0.75, "it aims at memory", ""}};
  kept.kept = true;
  kept.reason = "faster: 1 ms against 2 ms";
  TrialRecord failed;
  failed.node = 1;
  failed.edit = sample::MakeEdit("hunks", {{"id", 7}}, "<i>rewrite</i> | it");
  failed.note.proposer = "m<1>";
  failed.reason = "rejected at build: kernel.cu:3: <b>";
  run.trials = {kept, failed};
  run.nodes[1].judgement = Judgement{1, "sectors fell", Verdict::kSupported, "m<1>"};
  return run;
}

TEST(ModelReport, AddsUpWhatRolesCost) {
  const RunRecord run = RunWithModels();
  const ModelReport models = MakeModelReport(run);
  ASSERT_EQ(models.uses.size(), 2U);
  EXPECT_EQ(models.uses[0].role, "proposer");
  EXPECT_EQ(models.uses[0].calls, 2);
  EXPECT_EQ(models.uses[0].unused, 1);
  EXPECT_EQ(models.uses[0].tokens, 2000);
  EXPECT_EQ(models.uses[0].dollars, 0.5);
  EXPECT_THAT(models.given_up, testing::ElementsAre(HasSubstr("no route; the run goes on")));
}

TEST(ModelReport, SaysWhatBecameOfProposals) {
  const RunRecord run = RunWithModels();
  const ModelReport models = MakeModelReport(run);
  ASSERT_EQ(models.edits.size(), 2U);
  EXPECT_EQ(models.edits[0].node, 1);
  EXPECT_EQ(models.edits[0].after, "m<1>, supported: sectors fell");
  EXPECT_THAT(models.edits[0].before, HasSubstr("plausibility 0.75"));
  EXPECT_EQ(models.edits[1].node, -1);
  const auto on_path = [](int64_t node) { return node == 1 || node == 5; };
  EXPECT_EQ(models.Find(run.nodes[1].edit, on_path), &models.edits[0]);
  EXPECT_EQ(models.Find(run.nodes[5].edit, on_path), nullptr);
  EXPECT_EQ(models.Find(run.nodes[1].edit, [](int64_t) { return false; }), nullptr);
}

TEST(ModelReport, TellsTheTimeThatModelsAndTrialsTook) {
  RunRecord run = RunWithModels();
  run.exchanges[0].wall_time = std::chrono::seconds(3);
  run.trials[1].evaluation.stage_times = {{Stage::kBuild, std::chrono::seconds(7)}};
  run.trials[1].wall_time = std::chrono::seconds(7);
  const ReportModel with = MakeReportModel(run);
  const ReportModel without = MakeReportModel(sample::FinishedRun());
  EXPECT_NEAR(with.total_seconds, without.total_seconds + 10, 1e-6);
  const auto share = std::find_if(with.stage_shares.begin(), with.stage_shares.end(),
                                  [](const auto& one) { return one.name == "language models"; });
  ASSERT_NE(share, with.stage_shares.end());
  EXPECT_EQ(share->seconds, 3);
  EXPECT_EQ(share->count, 3);
}

TEST(ModelReport, IsInEveryFormat) {
  const ReportModel model = MakeReportModel(RunWithModels());
  const std::string markdown = MarkdownReport(model);
  EXPECT_THAT(markdown, HasSubstr("## Language models"));
  EXPECT_THAT(markdown, HasSubstr("proposed by m"));
  const std::string html = HtmlReport(model);
  EXPECT_THAT(html, HasSubstr("Language models"));
  EXPECT_THAT(html, HasSubstr("proposed by m&lt;1&gt;; judge before"));
  EXPECT_THAT(html, Not(HasSubstr("<i>rewrite</i>")));
  EXPECT_THAT(html, Not(HasSubstr("kernel.cu:3: <b>")));
  const auto json = nlohmann::json::parse(JsonReport(model));
  EXPECT_EQ(json["models"]["uses"][0]["calls"], 2);
  EXPECT_EQ(json["models"]["edits"][0]["node"], 1);
  EXPECT_EQ(json["models"]["edits"][1]["kept"], false);
}

TEST(ModelReport, IsAbsentFromARunWithoutModels) {
  const ReportModel model = MakeReportModel(sample::FinishedRun());
  EXPECT_FALSE(model.models.any());
  EXPECT_THAT(MarkdownReport(model), Not(HasSubstr("Language models")));
  EXPECT_THAT(HtmlReport(model), Not(HasSubstr("Language models")));
}

TEST(ModelReport, WritesUsesInOneLine) {
  EXPECT_EQ(RoleUseText("judge", 1, 900, 0), "judge 1 call, 900 tokens");
  EXPECT_EQ(RoleUseText("proposer", 3, 12'400, 0.041), "proposer 3 calls, 12.4 k tokens, $0.04");
}

}  // namespace
}  // namespace optiml
