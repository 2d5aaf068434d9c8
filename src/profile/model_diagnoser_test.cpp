#include "profile/model_diagnoser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profile/diagnosis.h"
#include "prompt/golden_prompt.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

DeviceInfo Device() {
  DeviceInfo info;
  info.name = "H200 (emulated)";
  info.architecture = "sm_90";
  info.multiprocessors = 132;
  info.shared_bytes_per_block_limit = 232448;
  info.dram_bytes_per_s = 4.8e12;
  return info;
}

nlohmann::json Answer() {
  return {{"bound", "latency"},
          {"evidence",
           {{{"metric", metric::kGlobalLoadRequests}, {"reading", "a request for each warp"}}}},
          {"cause", "each thread has one load in flight"},
          {"lines", {3, 4}},
          {"confidence", 0.6}};
}

Result<PlacedDiagnosis> Read(const std::string& reply) {
  return ReadModelDiagnosis(reply, PleadingSource(), ProfiledEvaluation(), "m");
}
std::string Refusal(const nlohmann::json& answer) {
  const auto read = Read(answer.dump());
  return read ? "" : read.error().message();
}

TEST(ModelDiagnoser, AsksWithFactsAndNumberedSource) {
  ExpectGoldenPrompt("diagnoser.txt",
                     DiagnoserPrompt(PleadingSource(), ProfiledEvaluation(), Device()));
}

TEST(ModelDiagnoser, ReadsADiagnosis) {
  const auto read = Read(Answer().dump());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->diagnosis.bound, Bound::kLatency);
  EXPECT_EQ(read->maker, "m");
  EXPECT_THAT(read->source_lines, ElementsAre(3, 4));
  EXPECT_EQ(read->diagnosis.confidence_ratio, 0.6);
  // Values are the profile's, never the model's; so are the limits.
  EXPECT_THAT(read->diagnosis.evidence, ElementsAre(std::string(metric::kGlobalLoadRequests) +
                                                    " is 128 request: a request for each warp"));
  EXPECT_EQ(read->diagnosis.speed_of_light.at("dram"), 0.81);
}

TEST(ModelDiagnoser, RefusesWhatIsNotThere) {
  nlohmann::json answer = Answer();
  answer["evidence"][0]["metric"] = "dram__bytes_dreamt.sum";
  EXPECT_THAT(Refusal(answer), HasSubstr("there is no counter \"dram__bytes_dreamt.sum\""));
  answer = Answer();
  answer["lines"] = {10};
  EXPECT_THAT(Refusal(answer), HasSubstr("from 1 to 9"));
  answer["lines"] = {"3"};
  EXPECT_THAT(Refusal(answer), HasSubstr("from 1 to 9"));
}

TEST(ModelDiagnoser, RefusesWhatIsNotTheSchemas) {
  for (const char* key : {"bound", "evidence", "cause", "lines", "confidence"}) {
    nlohmann::json answer = Answer();
    answer.erase(key);
    EXPECT_THAT(Refusal(answer), HasSubstr(key));
  }
  nlohmann::json answer = Answer();
  answer["bound"] = "unknown";
  EXPECT_THAT(Refusal(answer), HasSubstr("memory, compute, latency, occupancy"));
  answer = Answer();
  answer["tolerance"] = 10;
  EXPECT_THAT(Refusal(answer), HasSubstr("\"tolerance\" is not asked for"));
  answer = Answer();
  answer["confidence"] = 2;
  EXPECT_THAT(Refusal(answer), HasSubstr("from 0 to 1"));
  answer["evidence"] = nlohmann::json::array();
  EXPECT_FALSE(Read(answer.dump()));
}

// The table and the model speak one schema: what the table says, the model's reader takes, where
// each piece of evidence names its metric.
TEST(ModelDiagnoser, TheTableSpeaksTheSameSchema) {
  Evaluation evaluation = ProfiledEvaluation();
  evaluation.profile->metrics[metric::kDramUtilisation] = {0.9, "ratio"};
  Diagnosis table =
      Diagnose(*evaluation.profile, evaluation.timings.front(), Device(), evaluation.resources);
  ASSERT_EQ(table.bound, Bound::kMemory);
  auto json = nlohmann::json::parse(DiagnosisJson({table, {}, ""}));
  size_t named = 0;
  for (auto& evidence : json["evidence"]) {
    named += evidence["metric"] != "" ? 1 : 0;
  }
  EXPECT_GE(named, 1U);
  nlohmann::json with_metrics = nlohmann::json::array();
  for (const auto& evidence : json["evidence"]) {
    if (evidence["metric"] != "") {
      with_metrics.push_back(evidence);
    }
  }
  json["evidence"] = with_metrics;
  const auto read = ReadModelDiagnosis(json.dump(), PleadingSource(), evaluation, "m");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->diagnosis.bound, table.bound);
  EXPECT_EQ(read->diagnosis.cause, table.cause);
}

}  // namespace
}  // namespace optiml
