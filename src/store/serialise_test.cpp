#include "store/serialise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "store/sample_record.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

TEST(Serialise, EvaluationComesBackFieldByField) {
  const Evaluation before = SampleEvaluation();
  const Result<Evaluation> after = ParseEvaluation(FormatEvaluation(before));
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_EQ(FormatEvaluation(*after), FormatEvaluation(before));
  EXPECT_EQ(after->variant, before.variant);
  EXPECT_EQ(after->source_hash, before.source_hash);
  EXPECT_EQ(after->ptx_hash, before.ptx_hash);
  EXPECT_EQ(after->plan_hash, before.plan_hash);
  ASSERT_EQ(after->resources.size(), 1U);
  EXPECT_EQ(after->resources[0].spill_load_bytes, before.resources[0].spill_load_bytes);
  ASSERT_TRUE(after->verify);
  EXPECT_EQ(after->verify->first_mismatch->coordinates, before.verify->first_mismatch->coordinates);
  EXPECT_EQ(after->verify->findings[0].detail, before.verify->findings[0].detail);
  ASSERT_TRUE(after->verify->error_map);
  EXPECT_EQ(after->verify->error_map->cells, ".......U");
  EXPECT_EQ(after->verify->error_map->shape, (std::vector<int64_t>{1, 8}));
  EXPECT_EQ(after->launcher, "recorded");
  ASSERT_EQ(after->timings.size(), 1U);
  EXPECT_EQ(after->timings[0].kind, TimingKind::kMeasured);
  EXPECT_EQ(after->timings[0].samples_s, before.timings[0].samples_s);
  EXPECT_EQ(after->profile->Get("a"), before.profile->Get("a"));
  EXPECT_EQ(after->diagnosis->bound, Bound::kLatency);
  EXPECT_EQ(after->stage_times[0].time, before.stage_times[0].time);
  EXPECT_TRUE(after->from_store);
  EXPECT_TRUE(after->accepted());
}

TEST(Serialise, RejectionKeepsStageAndReason) {
  Evaluation before;
  before.outcome = Rejection{Stage::kL1, "rows=33: y[4] is 1, expected 2"};
  const Result<Evaluation> after = ParseEvaluation(FormatEvaluation(before));
  ASSERT_TRUE(after);
  ASSERT_NE(after->rejection(), nullptr);
  EXPECT_EQ(after->rejection()->stage, Stage::kL1);
  EXPECT_EQ(after->rejection()->reason, "rows=33: y[4] is 1, expected 2");
  EXPECT_FALSE(after->profile);
  EXPECT_FALSE(after->verify);
}

TEST(Serialise, WhatWasNotCheckedStaysSo) {
  Evaluation before;
  before.outcome = Rejection{Stage::kPlan, "kernel.cu:5: the launcher uses goto", true};
  const Result<Evaluation> after = ParseEvaluation(FormatEvaluation(before));
  ASSERT_TRUE(after);
  EXPECT_TRUE(after->rejection()->is_unsupported);
}

TEST(Serialise, AStoreOfAnEarlierVersionHasFewerKeys) {
  Evaluation before;
  before.outcome = Rejection{Stage::kL1, "y[4] is 1, expected 2"};
  before.verify.emplace();
  const std::string json = FormatEvaluation(before);
  for (const char* key : {"unsupported", "launcher", "error_map"}) {
    EXPECT_EQ(json.find(key), std::string::npos) << key;
  }
  const Result<Evaluation> after = ParseEvaluation(json);
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_FALSE(after->rejection()->is_unsupported);
  EXPECT_EQ(after->launcher, "");
  EXPECT_FALSE(after->verify->error_map);
}

TEST(Serialise, DoublesComeBackBitForBit) {
  const double values[] = {0.0,
                           -0.0,
                           0.1,
                           1.0 / 3,
                           5e-324,
                           std::numeric_limits<double>::max(),
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN(),
                           std::bit_cast<double>(uint64_t{0xfff8dead0000beef}),
                           1e23,
                           9007199254740993.0};
  for (const double value : values) {
    Reward reward;
    reward.total = value;
    const Result<Reward> after = ParseReward(FormatReward(reward));
    ASSERT_TRUE(after) << after.error().message();
    EXPECT_EQ(std::bit_cast<uint64_t>(after->total), std::bit_cast<uint64_t>(value)) << value;
  }
}

TEST(Serialise, DoublesOfRandomBitsComeBackBitForBit) {
  for (uint64_t i = 0; i < 20000; ++i) {
    const uint64_t bits = i * 0x9e3779b97f4a7c15ULL ^ (i << 52);
    Reward reward;
    reward.total = std::bit_cast<double>(bits);
    const Result<Reward> after = ParseReward(FormatReward(reward));
    ASSERT_TRUE(after);
    ASSERT_EQ(std::bit_cast<uint64_t>(after->total), bits);
  }
}

TEST(Serialise, IntegersKeepTheirWholeRange) {
  Edit edit;
  edit.parameters = {{"min", std::numeric_limits<int64_t>::min()},
                     {"max", std::numeric_limits<int64_t>::max()}};
  const Result<Edit> after = ParseEdit(FormatEdit(edit));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->parameters, edit.parameters);
}

TEST(Serialise, InvalidUtf8IsRepaired) {
  Edit edit;
  edit.summary = "caf\xe9";
  const Result<Edit> after = ParseEdit(FormatEdit(edit));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->summary, "caf\xef\xbf\xbd");
}

TEST(Serialise, NamesTheKeyThatIsWrong) {
  const Result<Reward> missing = ParseReward(R"({"parts":[]})");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message(), HasSubstr("total: missing"));
  EXPECT_EQ(missing.error().code(), ErrorCode::kParse);
  const Result<Reward> nested =
      ParseReward(R"({"total":1,"parts":[{"name":"time","weight":"x","value":1,"reason":""}]})");
  ASSERT_FALSE(nested);
  EXPECT_THAT(nested.error().message(), HasSubstr("parts: weight: \"x\" is no number"));
  EXPECT_FALSE(ParseReward("[1]"));
  EXPECT_FALSE(ParseReward("{"));
  EXPECT_FALSE(ParseEditMark("MAYBE"));
  EXPECT_FALSE(ParseRunState(""));
}

TEST(Serialise, IntegerOutOfRangeIsRefused) {
  Evaluation evaluation;
  evaluation.resources.emplace_back();
  std::string json = FormatEvaluation(evaluation);
  const size_t at = json.find("\"registers\":0");
  ASSERT_NE(at, std::string::npos);
  const Result<Evaluation> wide =
      ParseEvaluation(std::string(json).replace(at, 13, "\"registers\":5000000000"));
  ASSERT_FALSE(wide);
  EXPECT_THAT(wide.error().message(), HasSubstr("registers: integer out of range"));
  EXPECT_FALSE(ParseEvaluation(std::string(json).replace(at, 13, "\"registers\":1.5")));
}

}  // namespace
}  // namespace optiml
