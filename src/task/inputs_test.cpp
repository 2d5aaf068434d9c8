#include "task/inputs.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "base/content_hash.h"
#include "task/fills.h"

namespace optiml {
namespace {

Tensor Filled(FillKind kind, DType dtype, std::vector<int64_t> shape, uint64_t seed = 7,
              double min = 0, double max = 1, int64_t total = 0) {
  ResolvedFill fill;
  fill.kind = kind;
  fill.min = min;
  fill.max = max;
  fill.value = 0.75;
  fill.total = total;
  Tensor tensor = MakeTensor(dtype, std::move(shape));
  FillTensor(fill, seed, tensor);
  return tensor;
}

ArgSpec Buffer(const std::string& name, DType dtype, const std::string& extent) {
  ArgSpec arg;
  arg.name = name;
  arg.is_buffer = true;
  arg.dtype = dtype;
  arg.shape = {*SizeExpr::Parse(extent)};
  arg.fill.kind = IsFloat(dtype) ? FillKind::kNormal : FillKind::kRandInt;
  return arg;
}

TEST(Fills, NormalQuantileMatchesKnownValues) {
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-9);
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 3e-9);
  EXPECT_NEAR(NormalQuantile(0.001), -3.090232306167813, 4e-9);
  EXPECT_NEAR(NormalQuantile(1e-12), -7.034483825301132, 1e-8);
}

TEST(Fills, NormalHasMeanZeroAndDeviationOne) {
  const Tensor t = Filled(FillKind::kNormal, DType::kF64, {100'000});
  double sum = 0;
  double squares = 0;
  for (int64_t i = 0; i < t.element_count(); ++i) {
    sum += t.At(i);
    squares += t.At(i) * t.At(i);
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

// The very bits: a change of these numbers changes every recorded run.
TEST(Fills, BitsAreTheSameOnEveryMachine) {
  ContentHasher hasher;
  for (int kind = 0; kind <= static_cast<int>(FillKind::kSmallInts); ++kind) {
    for (const DType dtype :
         {DType::kF16, DType::kBf16, DType::kF32, DType::kF64, DType::kI32, DType::kU8}) {
      const Tensor t = Filled(static_cast<FillKind>(kind), dtype, {5, 101}, 42, 0, 50, 30);
      hasher.Add(ContentHash::Of(t.bytes).Hex());
    }
  }
  EXPECT_EQ(hasher.Finish().Hex().substr(0, 16), "ad4e61f11a939723");
}

TEST(Fills, EachKindKeepsItsPromise) {
  const int64_t n = 1000;
  const auto each = [](const Tensor& t, auto holds) {
    for (int64_t i = 0; i < t.element_count(); ++i) {
      EXPECT_TRUE(holds(i, t.At(i))) << i << ": " << t.At(i);
    }
  };
  each(Filled(FillKind::kUniform, DType::kF32, {n}, 1, -2, 3),
       [](int64_t, double v) { return v >= -2 && v < 3; });
  each(Filled(FillKind::kRandInt, DType::kI32, {n}, 1, -2, 3),
       [](int64_t, double v) { return v >= -2 && v < 3 && v == std::floor(v); });
  each(Filled(FillKind::kConstant, DType::kF16, {n}), [](int64_t, double v) { return v == 0.75; });
  each(Filled(FillKind::kZeros, DType::kF32, {n}), [](int64_t, double v) { return v == 0; });
  each(Filled(FillKind::kAllNegative, DType::kF32, {n}), [](int64_t, double v) { return v < 0; });
  each(Filled(FillKind::kSmallInts, DType::kF16, {n}),
       [](int64_t, double v) { return std::fabs(v) <= 4 && v == std::floor(v); });
  each(Filled(FillKind::kHeavyTailed, DType::kF32, {n}),
       [](int64_t, double v) { return std::fabs(v) <= 1e6; });
  const Tensor sorted = Filled(FillKind::kSorted, DType::kF32, {n});
  each(sorted, [&](int64_t i, double v) { return i == 0 || sorted.At(i - 1) <= v; });
  const Tensor permutation = Filled(FillKind::kPermutation, DType::kI32, {n});
  std::set<double> seen;
  each(permutation, [&](int64_t, double v) { return v >= 0 && v < 1000 && seen.insert(v).second; });
  const Tensor offsets = Filled(FillKind::kOffsets, DType::kI64, {n}, 1, 0, 1, 77);
  each(offsets, [&](int64_t i, double v) { return i == 0 ? v == 0 : v >= offsets.At(i - 1); });
  EXPECT_EQ(offsets.At(n - 1), 77);
  const Tensor hot = Filled(FillKind::kOneHot, DType::kF32, {10, 20});
  for (int64_t row = 0; row < 10; ++row) {
    double sum = 0;
    for (int64_t c = 0; c < 20; ++c) {
      sum += hot.At(row * 20 + c);
    }
    EXPECT_EQ(sum, 1);
  }
  const Tensor special = Filled(FillKind::kSpecial, DType::kF32, {n});
  int nans = 0;
  int infinities = 0;
  int denormals = 0;
  int zeros = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float v = static_cast<float>(special.At(i));
    nans += std::isnan(v) ? 1 : 0;
    infinities += std::isinf(v) ? 1 : 0;
    denormals += std::fpclassify(v) == FP_SUBNORMAL ? 1 : 0;
    zeros += v == 0 ? 1 : 0;
  }
  EXPECT_GT(nans, 0);
  EXPECT_GT(infinities, 0);
  EXPECT_GT(denormals, 0);
  EXPECT_GT(zeros, 0);
  EXPECT_LT(nans + infinities + denormals + zeros, n / 4);
}

TEST(Fills, NarrowTypesStayFinite) {
  for (const DType dtype : {DType::kF16, DType::kE4m3, DType::kE5m2}) {
    for (const FillKind kind : {FillKind::kHeavyTailed, FillKind::kMixedScale}) {
      const Tensor t = Filled(kind, dtype, {2000});
      for (int64_t i = 0; i < 2000; ++i) {
        ASSERT_TRUE(std::isfinite(t.At(i))) << DTypeName(dtype);
      }
    }
  }
}

TEST(Fills, SmallIntegersOfARangeReachItsWholeNumbers) {
  KernelTask task;
  task.args = {Buffer("x", DType::kF32, "n")};
  task.args[0].fill.kind = FillKind::kUniform;
  task.args[0].fill.min_value = -1.5;
  task.args[0].fill.max_value = 3;
  task.args[0].fill.declared = true;
  const auto inputs = MakeInputs(task, {{"n", 500}}, 1, FillKind::kSmallInts);
  ASSERT_TRUE(inputs);
  std::set<double> seen;
  for (int64_t i = 0; i < 500; ++i) {
    seen.insert(inputs->buffers[0].At(i));
  }
  EXPECT_EQ(seen, (std::set<double>{-1, 0, 1, 2}));
  task.args[0].fill.max_value = -0.5;  // one whole number would be a constant
  const auto narrow = MakeInputs(task, {{"n", 500}}, 1, FillKind::kSmallInts);
  EXPECT_EQ(narrow->buffers[0].bytes, MakeInputs(task, {{"n", 500}}, 1)->buffers[0].bytes);
}

TEST(Fills, EmptyTensorsAreFine) {
  for (int kind = 0; kind <= static_cast<int>(FillKind::kSmallInts); ++kind) {
    EXPECT_EQ(Filled(static_cast<FillKind>(kind), DType::kF32, {3, 0}).element_count(), 0);
  }
}

TEST(Inputs, SeedsAndArgumentsDiffer) {
  KernelTask task;
  task.args = {Buffer("a", DType::kF32, "n"), Buffer("b", DType::kF32, "n")};
  task.checked = {{{{"n", 50}}, 0}};
  const SizeBindings sizes = {{"n", 50}};
  const TaskInputs one = *MakeInputs(task, sizes, 1);
  const TaskInputs again = *MakeInputs(task, sizes, 1);
  const TaskInputs two = *MakeInputs(task, sizes, 2);
  EXPECT_EQ(one.buffers[0].bytes, again.buffers[0].bytes);
  EXPECT_NE(one.buffers[0].bytes, two.buffers[0].bytes);
  EXPECT_NE(one.buffers[0].bytes, one.buffers[1].bytes);
  EXPECT_EQ(one.text, "n=50, declared fills, seed 1");
  EXPECT_EQ(MakeInputs(task, sizes, 2, FillKind::kConstant)->text, "n=50, fill constant, seed 2");
}

TEST(Inputs, ReplacementKeepsDeclaredRangesAndIntegers) {
  KernelTask task;
  task.args = {Buffer("free", DType::kF32, "n"), Buffer("ranged", DType::kF32, "n"),
               Buffer("index", DType::kI32, "n")};
  task.args[1].fill.kind = FillKind::kUniform;
  task.args[1].fill.declared = true;
  task.args[1].fill.min_value = 0.25;
  task.args[1].fill.max_value = 0.5;
  task.args[2].fill.declared = true;
  task.args[2].fill.min = SizeExpr(0);
  task.args[2].fill.max = *SizeExpr::Parse("n");
  task.checked = {{{{"n", 50}}, 0}};
  const TaskInputs inputs = *MakeInputs(task, {{"n", 50}}, 1, FillKind::kAllNegative);
  const TaskInputs declared = *MakeInputs(task, {{"n", 50}}, 1);
  for (int64_t i = 0; i < 50; ++i) {
    EXPECT_LT(inputs.buffers[0].At(i), 0);
    EXPECT_GE(inputs.buffers[1].At(i), 0.25);
    EXPECT_LT(inputs.buffers[1].At(i), 0.5);
  }
  EXPECT_EQ(inputs.buffers[2].bytes, declared.buffers[2].bytes);
  const TaskInputs constant = *MakeInputs(task, {{"n", 50}}, 1, FillKind::kConstant);
  EXPECT_EQ(constant.buffers[1].At(0), constant.buffers[1].At(49));
  EXPECT_GE(constant.buffers[1].At(0), 0.25);
}

TEST(Inputs, ScalarsAreWhatTheirTypeHolds) {
  KernelTask task;
  task.args = {Buffer("a", DType::kF32, "n")};
  ArgSpec eps;
  eps.name = "eps";
  eps.dtype = DType::kF32;
  eps.value = 0.1;
  ArgSpec alpha;
  alpha.name = "alpha";
  alpha.dtype = DType::kF32;
  alpha.fill.kind = FillKind::kUniform;
  alpha.fill.declared = true;
  task.args.push_back(eps);
  task.args.push_back(alpha);
  task.checked = {{{{"n", 5}}, 0}};
  const TaskInputs one = *MakeInputs(task, {{"n", 5}}, 1);
  const TaskInputs two = *MakeInputs(task, {{"n", 5}}, 2);
  EXPECT_EQ(one.scalars.at("eps"), static_cast<double>(0.1f));
  EXPECT_NE(one.scalars.at("alpha"), two.scalars.at("alpha"));
}

TEST(Inputs, UnfilledBuffersAreZero) {
  KernelTask task;
  task.args = {Buffer("a", DType::kF32, "n"), Buffer("y", DType::kF32, "n")};
  task.args[1].role = ArgRole::kOut;
  task.checked = {{{{"n", 5}}, 0}};
  const TaskInputs inputs = *MakeInputs(task, {{"n", 5}}, 1);
  EXPECT_EQ(inputs.buffers[1].bytes, std::vector<std::byte>(20, std::byte{0}));
}

}  // namespace
}  // namespace optiml
