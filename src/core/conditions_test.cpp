#include "core/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using testing::HasSubstr;
using Reasons = std::vector<std::string>;

Conditions Calm() {
  ClockReading before;
  before.sm_hz = 1980e6;
  before.memory_hz = 3201e6;
  before.temperature_celsius = 41;
  before.throttling = Reasons();
  ClockReading after = before;
  after.sm_hz = 1965e6;
  after.temperature_celsius = 47;
  return {before, after};
}

TEST(Conditions, AreOneSentence) {
  EXPECT_EQ(DescribeConditions(Calm()),
            "SM clock 1980 MHz before, 1965 MHz after; 41 to 47 C; no throttling");
  EXPECT_EQ(ThrottleWarning(Calm()), "");
}

TEST(Conditions, AnotherMemoryClockIsTold) {
  Conditions conditions = Calm();
  conditions.after.memory_hz = 1600e6;
  EXPECT_THAT(DescribeConditions(conditions),
              HasSubstr("memory clock 3201 MHz before, 1600 MHz after"));
}

TEST(Conditions, ThrottlingOfEitherReadingIsAWarning) {
  for (const bool before : {true, false}) {
    Conditions conditions = Calm();
    (before ? conditions.before : conditions.after).throttling = Reasons{"power cap"};
    EXPECT_THAT(DescribeConditions(conditions), HasSubstr("throttled (power cap)"));
    EXPECT_THAT(ThrottleWarning(conditions), HasSubstr("(power cap): times are longer"));
  }
}

TEST(Conditions, WhatWasNotReadIsNotClaimed) {
  Conditions conditions = Calm();
  conditions.after.throttling.reset();
  conditions.before.sm_hz.reset();
  const std::string text = DescribeConditions(conditions);
  EXPECT_THAT(text, HasSubstr("SM clock 1965 MHz after"));
  EXPECT_THAT(text, HasSubstr("whether it was throttled is not known"));
  EXPECT_THAT(DescribeConditions(Conditions()), HasSubstr("SM clock not known"));
}

TEST(Conditions, JoinedKeepsTheEndsAndEveryReason) {
  Conditions first = Calm();
  first.after.throttling = Reasons{"thermal slowdown"};
  Conditions second = Calm();
  second.after.temperature_celsius = 60;
  const Conditions joined = Joined(first, second);
  EXPECT_EQ(joined.before.temperature_celsius, 41);
  EXPECT_EQ(joined.after.temperature_celsius, 60);
  EXPECT_EQ(ThrottlingOf(joined), Reasons{"thermal slowdown"});
}

TEST(Conditions, AReasonThatOneReadingLacksIsNotLost) {
  Conditions first;
  first.after.throttling = Reasons{"power cap"};  // NVML said nothing before
  EXPECT_EQ(ThrottlingOf(Joined(first, Conditions())), Reasons{"power cap"});
}

}  // namespace
}  // namespace optiml
