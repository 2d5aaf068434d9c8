#include "score/proxies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::HasSubstr;

Profile With(std::map<MetricId, double> values) {
  Profile profile;
  for (const auto& [id, value] : values) {
    profile.metrics[id] = {value, ""};
  }
  return profile;
}

constexpr Bound kAllBounds[] = {Bound::kUnknown, Bound::kMemory, Bound::kCompute, Bound::kLatency,
                                Bound::kOccupancy};

TEST(Proxies, WeightsOfEveryBoundSumToOne) {
  for (const Bound bound : kAllBounds) {
    double sum = 0;
    for (const Proxy& proxy : ProxiesOf(bound)) {
      EXPECT_GT(proxy.weight, 0);
      sum += proxy.weight;
    }
    EXPECT_NEAR(sum, 1, 1e-12) << BoundName(bound);
  }
}

TEST(Proxies, CompareTheMetricsThatBothProfilesHave) {
  const Proxy& dram = ProxiesOf(Bound::kMemory).front();
  const Profile both = With({{metric::kDramReadBytes, 100}, {metric::kDramWriteBytes, 50}});
  const auto same =
      CompareProxy(dram, both, With({{metric::kDramReadBytes, 3}, {metric::kDramWriteBytes, 4}}));
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->before, 150);
  EXPECT_EQ(same->after, 7);
  // A profile that lacks the writes has not saved them.
  const auto less = CompareProxy(dram, both, With({{metric::kDramReadBytes, 100}}));
  ASSERT_TRUE(less.has_value());
  EXPECT_EQ(less->before, 100);
  EXPECT_EQ(less->after, 100);
  EXPECT_FALSE(CompareProxy(dram, both, With({})).has_value());
}

// The emulator counts PTX, a GPU machine code.
TEST(Proxies, CountersOfTwoSourcesAreNotCompared) {
  const Profile emulated = With({{metric::kDramReadBytes, 100}});
  Profile counted = With({{metric::kDramReadBytes, 50}});
  counted.source = ProfileSource::kCupti;
  EXPECT_FALSE(CompareProxy(ProxiesOf(Bound::kMemory).front(), emulated, counted).has_value());
  EXPECT_FALSE(ScoreProxies(Bound::kMemory, emulated, counted).has_value());
}

TEST(Proxies, AbsentMetricsRenormaliseTheWeights) {
  // Only the DRAM bytes of 0.35 and the L1 sectors of 0.25 are there.
  const auto score = ScoreProxies(
      Bound::kMemory, With({{metric::kDramReadBytes, 100}, {metric::kGlobalLoadSectors, 80}}),
      With({{metric::kDramReadBytes, 50}, {metric::kGlobalLoadSectors, 80}}));
  ASSERT_TRUE(score);
  EXPECT_EQ(score->present, 2);
  EXPECT_NEAR(score->value, 0.35 / 0.6 * 0.5, 1e-12);
}

TEST(Proxies, AMetricOfOneSideOnlyIsAbsent) {
  EXPECT_FALSE(ScoreProxies(Bound::kMemory, With({{metric::kDramReadBytes, 100}}),
                            With({{metric::kL2HitRatio, 0.5}})));
  EXPECT_FALSE(ScoreProxies(Bound::kMemory, With({}), With({})));
}

TEST(Proxies, HalvingAndDoublingWeighTheSameAndRisingIsGoodWhereItShould) {
  auto of = [](double before, double after) {
    return ScoreProxies(Bound::kCompute, With({{metric::kSmUtilisation, before}}),
                        With({{metric::kSmUtilisation, after}}))
        ->value;
  };
  EXPECT_DOUBLE_EQ(of(0.2, 0.4), 0.5);
  EXPECT_DOUBLE_EQ(of(0.4, 0.2), -0.5);
  EXPECT_DOUBLE_EQ(of(0, 0.4), 1);
  EXPECT_DOUBLE_EQ(of(0, 0), 0);
}

TEST(Proxies, TheBoundDecidesWhatMatters) {
  const Profile root = With({{metric::kDramReadBytes, 100}, {metric::kThreadInstructions, 100}});
  const Profile fewer_bytes =
      With({{metric::kDramReadBytes, 10}, {metric::kThreadInstructions, 150}});
  EXPECT_GT(ScoreProxies(Bound::kMemory, root, fewer_bytes)->value, 0);
  EXPECT_LT(ScoreProxies(Bound::kCompute, root, fewer_bytes)->value, 0);
}

TEST(Proxies, TheReasonNamesTheLargestContributions) {
  const auto score = ScoreProxies(
      Bound::kMemory, With({{metric::kDramReadBytes, 100}, {metric::kGlobalLoadSectors, 80}}),
      With({{metric::kDramReadBytes, 50}, {metric::kGlobalLoadSectors, 80}}));
  EXPECT_THAT(score->reason, HasSubstr("memory-bound root DRAM bytes went from 100 to 50"));
  EXPECT_THAT(score->reason, ::testing::Not(HasSubstr("sectors")));
  const Profile same = With({{metric::kDramReadBytes, 100}});
  EXPECT_THAT(ScoreProxies(Bound::kMemory, same, same)->reason, HasSubstr("no counter"));
}

}  // namespace
}  // namespace optiml
