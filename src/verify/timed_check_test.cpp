// L2 with a fake device, on which a function of the test plays the kernel; tests/verify/ has real
// ones.
#include "verify/timed_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verify/verifier_test_support.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_verifier::Honest;
using testing_verifier::Kernel;
using testing_verifier::kTask;
using testing_verifier::VerifierTest;

// Beyond the longest row of the other checks.
constexpr int kTimed = 400'000;

std::string TimedTask(const std::string& n) {
  std::string toml = kTask;
  return toml.replace(toml.find("4096"), 4, n);
}

class TimedCheckTest : public VerifierTest {
 protected:
  // L2 of a candidate that L0 and L1 accept.
  Evaluation JudgeTimed(const Kernel& kernel) {
    Evaluation evaluation = Judge(kernel);
    EXPECT_EQ(Reason(evaluation), "accepted");
    Evaluation prepared_again;
    const auto prepared =
        verifier_->Prepare(KernelSource(std::string(testing_verifier::kSource) + "// a candidate\n",
                                        "scale", "candidate.cu"),
                           prepared_again);
    EXPECT_TRUE(prepared) << prepared.error().message();
    const auto timed = verifier_->VerifyTimed(std::get<PreparedCandidate>(*prepared), evaluation);
    EXPECT_TRUE(timed) << timed.error().message();
    return evaluation;
  }
};

TEST_F(TimedCheckTest, AnHonestKernelIsComparedThere) {
  Start(TimedTask("400000"));
  int at_timed = 0;
  const Evaluation evaluation = JudgeTimed([&](auto& x, auto& y, float a, int n, int before) {
    at_timed += n == kTimed ? 1 : 0;
    Honest(x, y, a, n, before);
  });
  EXPECT_EQ(Reason(evaluation), "accepted");
  EXPECT_EQ(evaluation.verify->stage_reached, Stage::kL2);
  EXPECT_GE(at_timed, 1);
  EXPECT_THAT(verifier_->Notes(), IsEmpty());
}

TEST_F(TimedCheckTest, AnElementThatIsLeftOutThereIsFound) {
  Start(TimedTask("400000"));
  const Evaluation evaluation = JudgeTimed([](auto& x, auto& y, float a, int n, int before) {
    const float last = y.back();
    Honest(x, y, a, n, before);
    if (n == kTimed) {
      y.back() = last;
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L2: at the timed n=400000"));
  EXPECT_THAT(Reason(evaluation), HasSubstr("y[399999] is unwritten"));
  ASSERT_TRUE(evaluation.verify->error_map);
  EXPECT_EQ(MapKinds(*evaluation.verify->error_map), ".U");
  EXPECT_EQ(evaluation.verify->mismatch_count, 1);
}

TEST_F(TimedCheckTest, AScalarHasTheValueOfTheTimedPlan) {
  Start(TimedTask("400000"));
  const Evaluation evaluation = JudgeTimed([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, n == kTimed ? a + 0.5f : a, n, before);
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L2: at the timed n=400000"));
}

TEST_F(TimedCheckTest, WhatTheOriginalDoesNotComputeThereIsLeftOutWithANote) {
  Start(TimedTask("400000"));
  reference_.of_all = [](const TaskInputs& inputs, Tensor& y) {
    for (int64_t i = 0; i < y.element_count(); ++i) {
      const double value = inputs.buffers[0].At(i) * inputs.scalars.at("a");
      StoreElement(DType::kF64, y.element_count() == kTimed ? value + 100 : value,
                   y.bytes.data() + 8 * i);
    }
  };
  const Evaluation evaluation = JudgeTimed(Honest);
  EXPECT_EQ(Reason(evaluation), "accepted");
  EXPECT_THAT(verifier_->Notes(),
              ElementsAre(HasSubstr("not compared at the timed n=400000: the original disagrees")));
}

TEST_F(TimedCheckTest, AShapeThatTakesTooLongIsLeftOutWithANote) {
  Start(TimedTask("400000"));
  device_.info.capabilities.counts = true;
  device_.on_time = [](const RunRequest&) {
    TimeOutcome outcome;
    outcome.profile.metrics[metric::kWarpInstructions] = {1e9, "inst"};
    return outcome;
  };
  const Evaluation evaluation = JudgeTimed([](auto& x, auto& y, float a, int n, int before) {
    EXPECT_NE(n, kTimed);
    Honest(x, y, a, n, before);
  });
  EXPECT_EQ(Reason(evaluation), "accepted");
  EXPECT_THAT(verifier_->Notes(),
              ElementsAre(HasSubstr("takes more than 2000 million thread instructions")));
}

TEST_F(TimedCheckTest, AShapeThatIsTooLargeIsLeftOutBeforeItsInputsAreMade) {
  Start(TimedTask("500000000"));
  EXPECT_EQ(Reason(JudgeTimed(Honest)), "accepted");
  EXPECT_THAT(verifier_->Notes(), ElementsAre(HasSubstr("its buffers have 1000 million elements")));
}

}  // namespace
}  // namespace optiml
