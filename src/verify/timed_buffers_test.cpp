// What the buffers hold that a device timed: Verifier::TimedInputs and CheckTimed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "verify/verifier_test_support.h"

namespace optiml::testing_verifier {
namespace {

using ::testing::HasSubstr;

class TimedBuffersTest : public VerifierTest {
 protected:
  // A candidate that the checked shapes accept; its timed buffers come from `timed`.
  Evaluation Time(const std::function<float(float x, float a, size_t set, int i)>& timed,
                  std::vector<Finding> findings = {}) {
    Evaluation evaluation = Judge(Honest);
    EXPECT_EQ(Reason(evaluation), "accepted");
    const KernelSource source(std::string(kSource) + "// a candidate\n", "scale", "candidate.cu");
    Evaluation ignored;
    const auto prepared = verifier_->Prepare(source, ignored);
    const auto& candidate = std::get<PreparedCandidate>(*prepared);
    const auto sets = verifier_->TimedInputs(0);
    EXPECT_TRUE(sets) << sets.error().message();
    TimeOutcome outcome;
    outcome.findings = std::move(findings);
    for (size_t set = 0; set < sets->size(); ++set) {
      const TaskInputs& inputs = *(*sets)[set];
      std::vector<std::byte> y(inputs.buffers[1].bytes.size());
      for (int64_t i = 0; i < inputs.buffers[0].element_count(); ++i) {
        const float value =
            timed(static_cast<float>(inputs.buffers[0].At(i)),
                  static_cast<float>(inputs.scalars.at("a")), set, static_cast<int>(i));
        std::memcpy(y.data() + 4 * i, &value, 4);
      }
      outcome.outputs.push_back({{}, std::move(y)});
    }
    if (digest_) {
      outcome.digests.assign(sets->size(), digest_);
      for (size_t set = 0; set < sets->size(); ++set) {
        if (verifier_->KnowsTimed(0, set, *digest_)) {
          outcome.outputs[set].clear();  // as a device does
          ++known_;
        }
      }
    }
    auto checked = verifier_->CheckTimed(0, candidate.timed_plans.front(), outcome, evaluation);
    error_ = checked ? "" : checked.error().message();
    if (checked && *checked) {
      evaluation.outcome = **checked;
    }
    return evaluation;
  }

  std::string error_;
  std::optional<OutputsDigest> digest_;  // of both sets; absent: the device gives none
  int known_ = 0;                        // outputs that were not brought
};

TEST_F(TimedBuffersTest, TwoSetsOfOtherContents) {
  Start();
  const auto sets = verifier_->TimedInputs(0);
  ASSERT_TRUE(sets) << sets.error().message();
  ASSERT_EQ(sets->size(), 2U);
  EXPECT_EQ((*sets)[0]->buffers[0].element_count(), 4096);
  EXPECT_NE((*sets)[0]->buffers[0].bytes, (*sets)[1]->buffers[0].bytes);
  EXPECT_EQ((*sets)[0]->scalars, (*sets)[1]->scalars);  // those of the one timed plan
}

TEST_F(TimedBuffersTest, WhatTheOriginalComputesIsRight) {
  Start();
  const Evaluation evaluation = Time([](float x, float a, size_t, int) { return a * x; });
  EXPECT_EQ(Reason(evaluation), "accepted") << error_;
  EXPECT_EQ(evaluation.verify->stage_reached, Stage::kL2);
}

TEST_F(TimedBuffersTest, AResultThatIsKeptFromTheFirstSetShowsInTheSecond) {
  Start();
  std::vector<float> kept(4096);
  const Evaluation evaluation = Time([&](float x, float a, size_t set, int i) {
    float& value = kept[static_cast<size_t>(i)];
    value = set == 0 ? a * x : value;
    return value;
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L2: in the timed buffers, at n=4096"));
  EXPECT_THAT(evaluation.verify->failing_case, HasSubstr("seed 1000004"));
  EXPECT_TRUE(evaluation.verify->error_map);
}

TEST_F(TimedBuffersTest, OutputsThatWereRightAreKnownByTheirDigest) {
  Start();
  const auto right = [](float x, float a, size_t, int i) {
    return i == 7 ? a * x * 1.0000001f : a * x;
  };
  digest_ = OutputsDigest{1, 2};
  const Evaluation first = Time(right);
  EXPECT_EQ(Reason(first), "accepted") << error_;
  EXPECT_EQ(known_, 0);
  const Evaluation second = Time(right);
  EXPECT_EQ(Reason(second), "accepted") << error_;
  EXPECT_EQ(known_, 2);
  EXPECT_EQ(second.verify->max_absolute_error, first.verify->max_absolute_error);
  EXPECT_GT(second.verify->max_absolute_error, 0);
  EXPECT_FALSE(verifier_->KnowsTimed(0, 0, {1, 3}));
}

TEST_F(TimedBuffersTest, WrongOutputsAreNeverKnown) {
  Start();
  const auto wrong = [](float x, float a, size_t, int i) { return i == 7 ? 0.0f : a * x; };
  digest_ = OutputsDigest{1, 2};
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Reason(Time(wrong)), HasSubstr("y[7]"));
  }
  EXPECT_EQ(known_, 0);
}

TEST_F(TimedBuffersTest, OneWrongElementIsEnough) {
  Start();
  const Evaluation evaluation =
      Time([](float x, float a, size_t, int i) { return i == 4095 ? 0.0f : a * x; });
  EXPECT_THAT(Reason(evaluation), HasSubstr("y[4095]"));
  EXPECT_EQ(evaluation.verify->mismatch_count, 1);
}

TEST_F(TimedBuffersTest, AFindingOfTheDeviceRejects) {
  Start();
  Finding finding;
  finding.kind = "out of bounds";
  finding.detail = "out of bounds: 4 bytes after a buffer were overwritten";
  const Evaluation evaluation =
      Time([](float x, float a, size_t, int) { return a * x; }, {finding});
  EXPECT_THAT(Reason(evaluation), HasSubstr("L2"));
  EXPECT_THAT(Reason(evaluation), HasSubstr("overwritten"));
}

// A kernel that is exact at the checked shapes must not round to half precision at the timed one,
// however many terms its outputs might sum.
TEST_F(TimedBuffersTest, HalfPrecisionAtTheTimedSizeAloneIsRejected) {
  Start();
  const Evaluation evaluation = Time([](float x, float a, size_t, int) {
    float value = a * x;
    uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    bits &= 0xffffe000;  // ten bits of the fraction
    std::memcpy(&value, &bits, 4);
    return value;
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L2"));
}

// An original that is a thousandth off at the timed size alone: a sum in an unlucky order.
void InaccurateThere(std::vector<float>& x, std::vector<float>& y, float a, int n, int before) {
  Honest(x, y, a, n, before);
  for (float& value : y) {
    value *= n == 4096 ? 1.001f : 1.0f;
  }
}

TEST_F(TimedBuffersTest, ACandidateMayBeMoreAccurateThanTheOriginal) {
  Start();
  kernel_ = InaccurateThere;
  EXPECT_EQ(Reason(Time([](float x, float a, size_t, int) { return a * x; })), "accepted")
      << error_;
  EXPECT_EQ(double_launches_, 2);  // one for each set
  // What the original computes stays right, whatever its error.
  EXPECT_EQ(Reason(Time([](float x, float a, size_t, int) { return a * x * 1.001f; })), "accepted");
  EXPECT_THAT(Reason(Time([](float x, float a, size_t, int) { return a * x * 1.1f; })),
              HasSubstr("L2"));
  EXPECT_EQ(double_launches_, 2);
}

TEST_F(TimedBuffersTest, WhatIsNotTheOriginalsFunctionInDoubleIsNotBelieved) {
  in_double_ = [](double x, double a) { return 2 * a * x; };
  Start();
  EXPECT_EQ(Reason(Time([](float x, float a, size_t, int) { return a * x; })), "accepted")
      << error_;
  EXPECT_THAT(Reason(Time([](float x, float a, size_t, int) { return 2 * a * x; })),
              HasSubstr("L2"));
}

TEST_F(TimedBuffersTest, AnOriginalThatFailsInDoubleIsComparedWithAsItIs) {
  Start();
  device_.on_run = [this](const RunRequest& request) -> Result<RunOutcome> {
    if (request.plan->buffers[0].size_bytes == 8 * 4096) {
      RunOutcome outcome;
      outcome.status = RunStatus::kFault;
      outcome.reason = "an illegal address";
      return outcome;
    }
    return Execute(request);
  };
  EXPECT_EQ(Reason(Time([](float x, float a, size_t, int) { return a * x; })), "accepted")
      << error_;
  EXPECT_THAT(verifier_->Notes(), ::testing::Contains(HasSubstr("fails: an illegal address")));
}

TEST_F(TimedBuffersTest, AnOriginalThatItsReferenceContradictsThereIsTheTasksFault) {
  reference_.range_error = 0.0;
  Start();
  EXPECT_EQ(Reason(Time([](float x, float a, size_t, int) { return a * x; })), "accepted")
      << error_;
  EXPECT_GE(reference_.range_runs, 2);
  // From now on the range form is right at the checked shapes alone.
  reference_.range_error = 0.5;
  reference_.range_error_beyond = 100;
  Start();
  Time([](float x, float a, size_t, int) { return a * x; });
  EXPECT_THAT(error_, HasSubstr("disagrees with the original kernel at the timed n=4096"));
}

}  // namespace
}  // namespace optiml::testing_verifier
