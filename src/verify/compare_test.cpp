#include "verify/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/rng.h"

namespace optiml {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

ArgSpec Output(DType dtype) {
  ArgSpec arg;
  arg.name = "y";
  arg.is_buffer = true;
  arg.dtype = dtype;
  arg.role = ArgRole::kOut;
  return arg;
}

Tensor Make(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  Tensor tensor = MakeTensor(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(dtype, values[i], tensor.bytes.data() + i * DTypeBytes(dtype));
  }
  return tensor;
}

Comparison CompareFloats(DType dtype, const std::vector<double>& expected,
                         const std::vector<double>& got, const CompareOptions& options = {}) {
  const auto n = static_cast<int64_t>(expected.size());
  const Tensor e = Make(DType::kF64, {n}, expected);
  const KernelTask task;
  const ErrorBudget budget(task, Output(dtype), 1, e, {});
  return Compare(Output(dtype), e, Make(dtype, {n}, got), &budget, options);
}

TEST(Compare, AcceptsRoundingAndRefusesMore) {
  EXPECT_TRUE(CompareFloats(DType::kF32, {1, 2, 3}, {1, 2.0000001, 3}).matches());
  const Comparison wrong = CompareFloats(DType::kF32, {1, 2, 3}, {1, 2.01, 3});
  EXPECT_EQ(wrong.mismatch_count, 1);
  EXPECT_EQ(wrong.first->index, 1);
  EXPECT_NEAR(wrong.max_absolute_error, 0.01, 1e-6);
  EXPECT_NEAR(wrong.max_relative_error, 0.005, 1e-6);
  EXPECT_GT(wrong.max_budget_ratio, 1);
}

TEST(Compare, NamesTheFirstWrongElementByItsCoordinates) {
  const Tensor expected = Make(DType::kI32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor got = Make(DType::kI32, {2, 3}, {1, 2, 3, 4, 7, 8});
  const Comparison result = Compare(Output(DType::kI32), expected, got, nullptr, {});
  EXPECT_EQ(result.mismatch_count, 2);
  EXPECT_EQ(result.first->coordinates, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(MismatchText(*result.first), "y[1,1]: expected 5, got 7");
}

// Enough for several threads, whose parts end at no round numbers.
TEST(Compare, ManyElementsAreComparedAsFewAre) {
  constexpr int64_t kCount = 2'345'679;
  Tensor expected = MakeTensor(DType::kI32, {kCount});
  Tensor got = expected;
  const Comparison equal = Compare(Output(DType::kI32), expected, got, nullptr, {});
  EXPECT_TRUE(equal.matches());
  const std::vector<int64_t> wrong = {kCount - 1, 1'600'000, 700'001, 1'172'839};
  for (const int64_t i : wrong) {
    StoreElement(DType::kI32, 5, got.bytes.data() + 4 * i);
  }
  const Comparison result = Compare(Output(DType::kI32), expected, got, nullptr, {});
  EXPECT_EQ(result.mismatch_count, 4);
  ASSERT_TRUE(result.first);
  EXPECT_EQ(result.first->index, 700'001);
  EXPECT_EQ(result.max_absolute_error, 5);
}

TEST(Compare, IntegersAreExactBeyondTheDoublesDigits) {
  Tensor expected = MakeTensor(DType::kI64, {1});
  StoreInteger(DType::kI64, (int64_t{1} << 60) + 1, expected.bytes.data());
  Tensor got = expected;
  EXPECT_TRUE(Compare(Output(DType::kI64), expected, got, nullptr, {}).matches());
  StoreInteger(DType::kI64, int64_t{1} << 60, got.bytes.data());
  EXPECT_FALSE(Compare(Output(DType::kI64), expected, got, nullptr, {}).matches());
}

TEST(Compare, NanAndInfinityGoByKind) {
  EXPECT_TRUE(CompareFloats(DType::kF32, {kNan, kInf, -kInf}, {kNan, kInf, -kInf}).matches());
  EXPECT_FALSE(CompareFloats(DType::kF32, {kNan}, {1}).matches());
  EXPECT_FALSE(CompareFloats(DType::kF32, {1}, {kNan}).matches());
  EXPECT_FALSE(CompareFloats(DType::kF32, {kInf}, {-kInf}).matches());
  EXPECT_FALSE(CompareFloats(DType::kF32, {kInf}, {3e38}).matches());
  EXPECT_FALSE(CompareFloats(DType::kF32, {1}, {kInf}).matches());
}

TEST(Compare, DenormalsAreMoreThanZeroWhereTheyCount) {
  const double denormal = 0x1p-130;
  EXPECT_TRUE(CompareFloats(DType::kF32, {denormal, 1}, {0, 1}).matches());
  CompareOptions options;
  options.denormals = true;
  EXPECT_FALSE(CompareFloats(DType::kF32, {denormal, 1}, {0, 1}, options).matches());
  EXPECT_TRUE(CompareFloats(DType::kF32, {denormal, 1}, {denormal, 1}, options).matches());
  EXPECT_TRUE(
      CompareFloats(DType::kF32, {denormal, 1}, {denormal + 0x1p-149, 1}, options).matches());
  EXPECT_TRUE(CompareFloats(DType::kF32, {0, 1}, {denormal, 1}, options).matches());
  EXPECT_FALSE(CompareFloats(DType::kF16, {0x1p-20, 1}, {0, 1}, options).matches());
}

TEST(Compare, AMapShowsWhatIsWrongAndHow) {
  const Tensor expected = Make(DType::kF64, {2, 3}, {1, 1, 1, 1, 1, 1});
  const KernelTask task;
  const ErrorBudget budget(task, Output(DType::kF32), 1, expected, {});
  const double allowed = budget.Allowance(0, 1);
  Tensor got = Make(DType::kF32, {2, 3}, {1, 1 + 50 * allowed, kNan, kInf, 0, 1});
  std::memset(got.bytes.data() + 4 * 5, kPoisonBytes[0], 4);
  CompareOptions options;
  options.poison = kPoisonBytes[0];
  const ErrorMap map = DrawErrors(Output(DType::kF32), expected, got, &budget, options);
  EXPECT_EQ(map.argument, "y");
  EXPECT_FALSE(map.is_exact);
  EXPECT_EQ(map.cells.substr(0, 4), ".2NN");
  EXPECT_GE(map.cells[4], '5');
  EXPECT_EQ(map.cells[5], 'U');
}

TEST(Compare, AMapOfIntegersShowsDifferences) {
  const Tensor expected = Make(DType::kI32, {4}, {0, 0, 0, 0});
  const Tensor got = Make(DType::kI32, {4}, {0, 3, -30, 3000});
  const ErrorMap map = DrawErrors(Output(DType::kI32), expected, got, nullptr, {});
  EXPECT_TRUE(map.is_exact);
  EXPECT_EQ(map.cells, ".124");
}

TEST(Compare, OverflowOfTheTypeIsItsInfinity) {
  EXPECT_TRUE(CompareFloats(DType::kF16, {1e6}, {kInf}).matches());
  EXPECT_FALSE(CompareFloats(DType::kF16, {1e6}, {-kInf}).matches());
  EXPECT_FALSE(CompareFloats(DType::kF16, {1e6}, {5}).matches());
  // Just below the limit, rounding up is not wrong.
  EXPECT_TRUE(CompareFloats(DType::kF16, {65'519}, {kInf}).matches());
  EXPECT_FALSE(CompareFloats(DType::kF16, {60'000}, {kInf}).matches());
}

TEST(Compare, SignsOfZeroCountOnlyWhenAsked) {
  EXPECT_TRUE(CompareFloats(DType::kF32, {0.0}, {-0.0}).matches());
  CompareOptions options;
  options.signed_zeros = true;
  EXPECT_FALSE(CompareFloats(DType::kF32, {0.0}, {-0.0}, options).matches());
  EXPECT_TRUE(CompareFloats(DType::kF32, {-0.0}, {-0.0}, options).matches());
}

TEST(Compare, PoisonIsUnwrittenEvenWhereNanIsExpected) {
  const KernelTask task;
  for (const DType dtype : {DType::kF16, DType::kBf16, DType::kF32, DType::kF64}) {
    const Tensor expected = Make(DType::kF64, {2}, {kNan, 1});
    Tensor got = Make(dtype, {2}, {kNan, 1});
    const ErrorBudget budget(task, Output(dtype), 1, expected, {});
    CompareOptions options;
    options.poison = kPoisonBytes[0];
    EXPECT_TRUE(Compare(Output(dtype), expected, got, &budget, options).matches());
    std::memset(got.bytes.data(), kPoisonBytes[0], DTypeBytes(dtype));
    const Comparison result = Compare(Output(dtype), expected, got, &budget, options);
    ASSERT_EQ(result.mismatch_count, 1) << DTypeName(dtype);
    EXPECT_TRUE(result.first->unwritten);
  }
}

TEST(Compare, AnIntegerThatLooksLikePoisonIsRightWhenItIsExpected) {
  const Tensor expected = Make(DType::kI32, {2}, {-1, 5});
  CompareOptions options;
  options.poison = kPoisonBytes[0];
  EXPECT_TRUE(Compare(Output(DType::kI32), expected, expected, nullptr, options).matches());
  const Tensor got = Make(DType::kI32, {2}, {-1, -1});
  const Comparison result = Compare(Output(DType::kI32), expected, got, nullptr, options);
  EXPECT_EQ(result.mismatch_count, 1);
  EXPECT_EQ(MismatchText(*result.first), "y[1] is unwritten, expected 5");
}

// Blocks of ordinary elements are judged by a shorter way: with a budget that knows single elements
// (and says the same) everything goes the long way.
TEST(Compare, TheShortWayAndTheLongOneAgree) {
  const double odd[] = {kNan, kInf, -kInf, 0, -0.0, 3.4e38, -3.4e38, 1e39, 1e-40, 1e-46, 0x1p126};
  constexpr int64_t kCount = 20'000;
  for (const bool tightened : {false, true}) {
    for (int mutation = 0; mutation < 200; ++mutation) {
      std::vector<double> expected;
      std::vector<double> got;
      Rng rng(static_cast<uint64_t>(mutation));
      for (int64_t i = 0; i < kCount; ++i) {
        expected.push_back(std::ldexp(rng.NextUnit() - 0.5, static_cast<int>(rng.NextBelow(20))));
        got.push_back(expected.back() * (1 + 1e-7 * (rng.NextUnit() - 0.5)));
      }
      for (int change = 0; change < mutation % 4; ++change) {
        std::vector<double>& side = rng.NextBelow(2) == 0 ? expected : got;
        side[rng.NextBelow(kCount)] =
            rng.NextBelow(2) == 0 ? odd[rng.NextBelow(std::size(odd))] : side[0] * 1.001;
      }
      const Tensor e = Make(DType::kF64, {kCount}, expected);
      const Tensor none = Make(DType::kF64, {kCount}, {});
      const Tensor g = Make(DType::kF32, {kCount}, got);
      const KernelTask task;
      ErrorBudget uniform(task, Output(DType::kF32), 5, e, {});
      Conditioning conditioning;
      conditioning.magnitudes = &none;
      ErrorBudget single(task, Output(DType::kF32), 5, e, conditioning);
      if (tightened) {
        uniform.Tighten(0.1);
        single.Tighten(0.1);
      }
      CompareOptions options;
      options.poison = kPoisonBytes[0];
      const Comparison a = Compare(Output(DType::kF32), e, g, &uniform, options);
      const Comparison b = Compare(Output(DType::kF32), e, g, &single, options);
      EXPECT_EQ(a.mismatch_count, b.mismatch_count) << mutation;
      EXPECT_EQ(a.first ? a.first->index : -1, b.first ? b.first->index : -1) << mutation;
      EXPECT_EQ(a.max_absolute_error, b.max_absolute_error) << mutation;
      EXPECT_EQ(a.max_relative_error, b.max_relative_error) << mutation;
      EXPECT_EQ(a.max_budget_ratio, b.max_budget_ratio) << mutation;
    }
  }
}

}  // namespace
}  // namespace optiml
