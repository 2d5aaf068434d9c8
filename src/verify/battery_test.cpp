// The task battery, and what verdicts must not depend on.
#include "verify/battery.h"

#include <gmock/gmock.h>

#include "verify/verifier_test_support.h"

namespace optiml {
namespace {

using testing::HasSubstr;
using testing_verifier::Honest;

using testing_verifier::kSource;
using testing_verifier::kTask;
using testing_verifier::VerifierTest;

TEST_F(VerifierTest, BatteryRejectsEveryMutantOfASoundTask) {
  Start();
  const auto rows = verifier_->Battery();
  ASSERT_TRUE(rows) << rows.error().message();
  std::map<std::string, std::string> verdicts;
  for (const BatteryVerdict& row : *rows) {
    verdicts[row.mutant] = row.verdict;
  }
  for (const char* mutant : {"zeros", "a constant (the mean)", "a constant (the first value)",
                             "a copy of x", "the output of other inputs", "half of the work",
                             "a 1 % scale error", "a shift by one element"}) {
    EXPECT_EQ(verdicts[mutant], "rejected") << mutant;
  }
}

TEST_F(VerifierTest, ACopyIsEquivalentWhereCopyingIsTheTask) {
  kernel_ = [](auto& x, auto& y, float, int n, int before) { Honest(x, y, 1.0f, n, before); };
  reference_.function = [](double x, double, double) { return x; };
  Start();
  const auto rows = verifier_->Battery();
  ASSERT_TRUE(rows) << rows.error().message();
  for (const BatteryVerdict& row : *rows) {
    if (row.mutant == "a copy of x") {
      EXPECT_EQ(row.verdict, "equivalent");
    }
  }
}

TEST_F(VerifierTest, AMutantThatFitsTheSmallestRowOnlyIsNotCalledRight) {
  // x has n elements and y n * n, which are as many at n = 1 alone, where a is 1.
  std::string toml = kTask;
  toml.replace(toml.find("shape = [\"n\"], role"), 13, "shape = [\"n * n\"]");
  toml.replace(toml.find("timed   = [ { n = 4096"), 22, "timed   = [ { n = 33");
  toml.replace(toml.find("{ n = 67"), 8, "{ n = 7");
  kernel_ = [](auto& x, auto& y, float a, int n, int) {
    for (size_t i = 0; i < y.size(); ++i) {
      y[i] = n == 1 ? x[0] : a * x[i % x.size()] + static_cast<float>(i);
    }
  };
  reference_.of_all = [this](const TaskInputs& inputs, Tensor& y) {
    const int64_t n = inputs.buffers[0].element_count();
    for (int64_t i = 0; i < y.element_count(); ++i) {
      const double x = inputs.buffers[0].At(i % n);
      StoreElement(DType::kF64, n == 1 ? x : inputs.scalars.at("a") * x + static_cast<double>(i),
                   y.bytes.data() + 8 * i);
    }
  };
  Start(toml);
  const auto rows = verifier_->Battery();
  ASSERT_TRUE(rows) << rows.error().message();
  const auto copy = std::find_if(rows->begin(), rows->end(), [](const BatteryVerdict& row) {
    return row.mutant == "a copy of x";
  });
  ASSERT_NE(copy, rows->end());
  EXPECT_EQ(copy->verdict, "not judged");
  EXPECT_EQ(copy->detail, "it fits the outputs only at n=1, where it is right");
}

TEST_F(VerifierTest, AVerdictDoesNotDependOnWhatWasVerifiedBefore) {
  // Where x lies in a small range the reference is chaotic and the original is almost as far off as
  // may be; elsewhere the candidate is 2.5 budgets off, which is less than the original's error
  // allows. What is known of the chaos must not take that away again.
  const auto is_chaotic = [](double x) { return x > 0.5 && x < 0.7; };
  const auto floor_of = [](const std::vector<float>& y) {
    double squares = 0;
    for (const float v : y) {
      squares += double{v} * v;
    }
    const auto n = static_cast<double>(y.size());
    return (16 + 4 * std::sqrt(n)) * 0x1p-24 * std::sqrt(squares / n);
  };
  reference_.function = [&](double x, double, double a) {
    const double noise = is_chaotic(x) ? 1e-3 * std::sin(x * 1e9) : 0;
    return x * a + noise;
  };
  const auto original = [&](auto& x, auto& y, float a, int n, int) {
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      y[at] = static_cast<float>(reference_.function(x[at], 0, a));
    }
    const double off = 0.9 * floor_of(y);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      y[at] += is_chaotic(x[at]) ? static_cast<float>(off) : 0;
    }
  };
  const auto candidate = [&](auto& x, auto& y, float a, int n, int before) {
    original(x, y, a, n, before);
    const bool any = std::any_of(x.begin(), x.end(), is_chaotic);
    const double off = any ? 2.5 * floor_of(y) : 0;
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      y[at] += !is_chaotic(x[at]) && std::fabs(x[at]) < 1 ? static_cast<float>(off) : 0;
    }
  };
  std::string toml = kTask;
  toml.replace(toml.find("shape = [\"n\"] }"), 15,
               "shape = [\"n\"], fill = \"uniform\", min = -2, max = 2 }");
  const auto verdict_after_battery = [&](bool battery) {
    kernel_ = original;
    Start(toml);
    if (battery) {
      EXPECT_EQ(BatteryMessage(), "passed");
    } else {
      // A resumed run: the original alone is known.
      Evaluation root;
      const auto prepared = verifier_->Prepare(task_.source, root);
      EXPECT_TRUE(verifier_->Verify(std::get<PreparedCandidate>(*prepared), root));
      EXPECT_EQ(Reason(root), "accepted");
    }
    kernel_ = candidate;
    Evaluation evaluation;
    const KernelSource source(std::string(kSource) + "// a candidate\n", "scale", "candidate.cu");
    const auto prepared = verifier_->Prepare(source, evaluation);
    EXPECT_TRUE(verifier_->Verify(std::get<PreparedCandidate>(*prepared), evaluation));
    return Reason(evaluation);
  };
  EXPECT_EQ(verdict_after_battery(false), "accepted");
  EXPECT_EQ(verdict_after_battery(true), "accepted");
}

TEST_F(VerifierTest, ATaskWhoseInputsAreZeroIsRefusedWithTheFix) {
  std::string toml = kTask;
  toml.replace(toml.find("shape = [\"n\"] }"), 15, "shape = [\"n\"], fill = \"zeros\" }");
  Start(toml);
  EXPECT_THAT(BatteryMessage(), HasSubstr("the task is too weak: its checks accept zeros as an "
                                          "answer (every checked case has this very answer); "
                                          "declare fills"));
}

TEST_F(VerifierTest, ATaskWithAHugeToleranceIsRefusedWithTheFix) {
  Start(std::string(kTask) + "[tolerance]\nabsolute = 1e8\nrelative = 0.5\n");
  EXPECT_THAT(BatteryMessage(), HasSubstr("(the task's tolerance hides it); tighten [tolerance]"));
}

}  // namespace
}  // namespace optiml
