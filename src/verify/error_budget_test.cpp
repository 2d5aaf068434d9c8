#include "verify/error_budget.h"

#include <gtest/gtest.h>

#include <cmath>

namespace optiml {
namespace {

ArgSpec Output(DType dtype) {
  ArgSpec arg;
  arg.name = "y";
  arg.is_buffer = true;
  arg.dtype = dtype;
  arg.role = ArgRole::kOut;
  return arg;
}

Tensor Doubles(const std::vector<double>& values) {
  Tensor tensor = MakeTensor(DType::kF64, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(DType::kF64, values[i], tensor.bytes.data() + 8 * i);
  }
  return tensor;
}

TEST(ErrorBudget, GrowsWithTheRootOfTheReductionLength) {
  const KernelTask task;
  const Tensor expected = Doubles({1, -1});
  const ErrorBudget one(task, Output(DType::kF32), 1, expected, {});
  const ErrorBudget many(task, Output(DType::kF32), 10'000, expected, {});
  const double u = 0x1p-24;
  EXPECT_NEAR(one.Allowance(0, 1), (2 + kBase + kGrowth) * u, 1e-12);
  EXPECT_NEAR(many.Allowance(0, 1), (2 + kBase + 100 * kGrowth) * u, 1e-12);
}

TEST(ErrorBudget, HalfPrecisionInsideAnF32TaskIsBeyondIt) {
  const KernelTask task;
  const Tensor expected = Doubles({1, -1, 0.5, 2});
  for (const double terms : {1.0, 64.0, 1024.0, 65'536.0}) {
    const ErrorBudget budget(task, Output(DType::kF32), terms, expected, {});
    // A product of two inputs rounded to f16 or tf32 is off by up to 2^-10.
    EXPECT_LT(budget.Allowance(0, 1), 0x1p-11) << terms;
  }
}

TEST(ErrorBudget, AKernelThatWasExactElsewhereMayRoundButNotUseHalfPrecision) {
  const KernelTask task;
  const Tensor expected = Doubles({1, -1});
  ErrorBudget budget(task, Output(DType::kF32), 1 << 24, expected, {});
  EXPECT_GT(budget.Allowance(0, 1), 0x1p-11);  // as many terms as there are inputs
  budget.Tighten(0);
  EXPECT_LT(budget.Allowance(0, 1), 0x1p-13);
  EXPECT_GT(budget.Allowance(0, 1), 0x1p-23);
}

TEST(ErrorBudget, AKernelThatUsedItsBudgetElsewhereKeepsIt) {
  const KernelTask task;
  const Tensor expected = Doubles({1, -1});
  ErrorBudget budget(task, Output(DType::kF32), 4096, expected, {});
  const double whole = budget.Allowance(0, 1);
  budget.Tighten(kShareGrowth * 0.2);
  EXPECT_EQ(budget.Allowance(0, 1), whole);
}

TEST(ErrorBudget, ReducedPrecisionIsGrantedWhereTheTaskAllowsIt) {
  KernelTask task;
  task.tolerance.allow_reduced_precision = true;
  const Tensor expected = Doubles({1, -1});
  const ErrorBudget budget(task, Output(DType::kF32), 64, expected, {});
  EXPECT_GT(budget.Allowance(0, 1), 0x1p-8);
  EXPECT_LT(budget.Allowance(0, 1), 0.02);
}

TEST(ErrorBudget, AFollowedOriginalNarrowsWhatBothSidesAreGranted) {
  EXPECT_EQ(FollowedMultiplier(0), kFollowedFactor);
  EXPECT_EQ(FollowedMultiplier(0.25), kFollowedFactor);
  EXPECT_DOUBLE_EQ(FollowedMultiplier(0.8), 4 * 0.8 + 0.8);
  // Never more than where nothing is known: an error that large may be the doubles' own.
  EXPECT_EQ(FollowedMultiplier(100), kUnmeasuredFactor);
  EXPECT_EQ(FollowedMultiplier(HUGE_VAL), kUnmeasuredFactor);
}

TEST(ErrorBudget, OutputRoundingFollowsTheType) {
  const KernelTask task;
  const Tensor expected = Doubles({1, 1});
  const ErrorBudget half(task, Output(DType::kF16), 1, expected, {});
  EXPECT_GE(half.Allowance(0, 1), 0x1p-10);
  EXPECT_LT(half.Allowance(0, 1), 0x1.1p-10);
  const ErrorBudget wide(task, Output(DType::kF64), 1, expected, {});
  EXPECT_LT(wide.Allowance(0, 1), 1e-14);
}

TEST(ErrorBudget, MagnitudesSaveASumThatCancels) {
  const KernelTask task;
  const Tensor expected = Doubles({1e-6});
  const Tensor magnitudes = Doubles({1000});
  const ErrorBudget blind(task, Output(DType::kF32), 1000, expected, {});
  const ErrorBudget seeing(task, Output(DType::kF32), 1000, expected, {&magnitudes, nullptr});
  const double error = 1e-4;  // what f32 may well leave of a sum of 1000 numbers near 1
  EXPECT_LT(blind.Allowance(0, 1e-6), error);
  EXPECT_GT(seeing.Allowance(0, 1e-6), error);
}

TEST(ErrorBudget, AnIllConditionedElementMayMoveAsItsInputsMakeItMove) {
  const KernelTask task;
  const Tensor expected = Doubles({1, 1, 1, 1, 1});
  // One element sits at a jump: it alone is allowed more.
  const Tensor moved = Doubles({0, 1e-5, 1e-5, 1e-5, 0.5});
  const ErrorBudget budget(task, Output(DType::kF32), 1, expected, {nullptr, &moved});
  EXPECT_NEAR(budget.Allowance(0, 1), kConditioning * 1e-5, 1e-5);
  EXPECT_NEAR(budget.Allowance(4, 1), kConditioning * 0.5, 1e-4);
}

TEST(ErrorBudget, OriginalsErrorWidensIt) {
  const KernelTask task;
  const Tensor expected = Doubles({1, 2, 3});
  Tensor original = Doubles({1, 2, 3});
  ErrorBudget budget(task, Output(DType::kF32), 1, expected, {});
  EXPECT_EQ(budget.WorstRatio(expected, original), 0);
  original = Doubles({1, 2 + 1e-3, 3});
  const double ratio = budget.WorstRatio(expected, original);
  EXPECT_GT(ratio, 100);
  const double before = budget.Allowance(1, 2);
  budget.Widen(ratio);
  EXPECT_NEAR(budget.Allowance(1, 2), before * ratio, 1e-9);
  EXPECT_NEAR(budget.Allowance(1, 2), 1e-3, 1e-6);
}

TEST(ErrorBudget, BothExplicitBoundsReplaceItAndOneIsAdded) {
  KernelTask task;
  const Tensor expected = Doubles({100});
  task.tolerance.absolute = 0.5;
  task.tolerance.relative = 0.01;
  ErrorBudget both(task, Output(DType::kF32), 1, expected, {});
  both.Widen(1000);
  EXPECT_DOUBLE_EQ(both.Allowance(0, 100), 1.5);
  task.tolerance.relative.reset();
  const ErrorBudget one(task, Output(DType::kF32), 1, expected, {});
  EXPECT_GT(one.Allowance(0, 100), 0.5);
  EXPECT_LT(one.Allowance(0, 100), 0.501);
  task.tolerance.per_argument["y"].absolute = 0;
  task.tolerance.per_argument["y"].relative = 0;
  const ErrorBudget own(task, Output(DType::kF32), 1, expected, {});
  EXPECT_EQ(own.Allowance(0, 100), 0);
}

TEST(ErrorBudget, TermsComeFromTheTaskOrFromTheInputs) {
  KernelTask task;
  ArgSpec x = Output(DType::kF32);
  x.role = ArgRole::kIn;
  x.shape = {*SizeExpr::Parse("n")};
  task.args = {x};
  EXPECT_EQ(ReductionTerms(task, {{"n", 50}}), 50);
  task.tolerance.reduction_length = *SizeExpr::Parse("n / 10");
  EXPECT_EQ(ReductionTerms(task, {{"n", 50}}), 5);
  EXPECT_EQ(ReductionTerms(task, {{"n", 5}}), 1);
}

}  // namespace
}  // namespace optiml
