#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/dtype.h"
#include "core/evaluation.h"
#include "core/launch_plan.h"
#include "core/size_expr.h"
#include "core/tensor.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();

double RoundTrip(DType dtype, double value) {
  std::byte at[8];
  StoreElement(dtype, value, at);
  return LoadElement(dtype, at);
}

TEST(DType, NamesRoundTripAndUnknownOnesListTheKnown) {
  for (const char* name : {"f16", "bf16", "f32", "f64", "e4m3", "e5m2", "i8", "u8", "i16", "u16",
                           "i32", "u32", "i64", "u64", "bool"}) {
    EXPECT_EQ(DTypeName(*ParseDType(name)), name);
  }
  EXPECT_THAT(ParseDType("f23").error().message(),
              HasSubstr("unknown dtype \"f23\" (known: f16 bf16 f32"));
}

TEST(DType, HalfConversionsMatchTheCompilers) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint16_t code = static_cast<uint16_t>(bits);
    _Float16 expected;
    std::memcpy(&expected, &code, 2);
    std::byte at[2];
    std::memcpy(at, &code, 2);
    const double got = LoadElement(DType::kF16, at);
    if (std::isnan(got)) {
      EXPECT_TRUE(static_cast<float>(expected) != static_cast<float>(expected)) << bits;
      continue;
    }
    ASSERT_EQ(got, static_cast<double>(static_cast<float>(expected))) << bits;
    std::byte back[2];
    StoreElement(DType::kF16, got, back);
    ASSERT_EQ(std::memcmp(back, at, 2), 0) << bits;
  }
  // Values between two codes, against the compiler's own rounding.
  for (int i = -3000; i < 3000; ++i) {
    const double value = std::ldexp(1.0 + i * 1.37e-4, i % 24 - 12) * (i % 2 == 0 ? 1 : -1);
    EXPECT_EQ(RoundTrip(DType::kF16, value), static_cast<double>(static_cast<_Float16>(value)))
        << value;
  }
}

TEST(DType, RoundsHalfwayCasesToEvenAndOverflowsByFormat) {
  EXPECT_EQ(RoundTrip(DType::kF16, 65519.9), 65504.0);
  EXPECT_EQ(RoundTrip(DType::kF16, 65520.0), kInf);
  EXPECT_EQ(RoundTrip(DType::kBf16, 1.0 + 0x1p-8), 1.0);
  EXPECT_EQ(RoundTrip(DType::kBf16, 1.0 + 3 * 0x1p-8), 1.0 + 2 * 0x1p-7);
  EXPECT_EQ(RoundTrip(DType::kE4m3, 448.0), 448.0);
  EXPECT_TRUE(std::isnan(RoundTrip(DType::kE4m3, 1e6)));
  EXPECT_EQ(RoundTrip(DType::kE5m2, 57344.0), 57344.0);
  EXPECT_EQ(RoundTrip(DType::kE5m2, 1e6), kInf);
  EXPECT_EQ(RoundTrip(DType::kE4m3, 0x1p-9), 0x1p-9);  // smallest denormal
  EXPECT_EQ(RoundTrip(DType::kE4m3, 0x1p-10), 0.0);    // half of it: to even
  EXPECT_TRUE(std::signbit(RoundTrip(DType::kF16, -0.0)));
}

TEST(DType, IntegersSaturateAndKeepTheirBits) {
  EXPECT_EQ(RoundTrip(DType::kU8, 300), 255);
  EXPECT_EQ(RoundTrip(DType::kI8, -300), -128);
  EXPECT_EQ(RoundTrip(DType::kI32, 2.9), 2);
  EXPECT_EQ(RoundTrip(DType::kBool, 0.5), 1);
  std::byte at[8];
  StoreElement(DType::kI64, 1e30, at);
  EXPECT_EQ(LoadInteger(DType::kI64, at), std::numeric_limits<int64_t>::max());
  StoreInteger(DType::kU16, 65536 + 7, at);
  EXPECT_EQ(LoadInteger(DType::kU16, at), 7);
}

TEST(SizeExpr, EvaluatesWithPrecedence) {
  const SizeBindings sizes = {{"rows", 7}, {"cols", 10}};
  EXPECT_EQ(*SizeExpr::Parse("rows + 2 * cols - 1")->Evaluate(sizes), 26);
  EXPECT_EQ(*SizeExpr::Parse("(rows + 2) * cols % 4")->Evaluate(sizes), 2);
  EXPECT_EQ(*SizeExpr::Parse("ceil_div(cols, 4) + max(rows, cols) - min(1, 2)")->Evaluate(sizes),
            12);
  EXPECT_EQ(*SizeExpr::Parse("-rows / 2")->Evaluate(sizes), -3);
  EXPECT_THAT(SizeExpr::Parse("rows*cols*rows")->Names(), ElementsAre("rows", "cols"));
}

TEST(SizeExpr, NamesWhatIsWrong) {
  EXPECT_THAT(SizeExpr::Parse("rows +").error().message(),
              HasSubstr("column 7: expected a number"));
  EXPECT_THAT(SizeExpr::Parse("rows cols").error().message(),
              HasSubstr("expected an operator, found 'c'"));
  EXPECT_THAT(SizeExpr::Parse("99999999999999999999").error().message(), HasSubstr("below 2^63"));
  EXPECT_THAT(SizeExpr::Parse(std::string(1000, '(')).error().message(),
              HasSubstr("nested deeper"));
  EXPECT_THAT(SizeExpr::Parse("n*2")->Evaluate({}).error().message(),
              HasSubstr("unknown size \"n\""));
  const SizeBindings huge = {{"n", int64_t{1} << 40}};
  EXPECT_THAT(SizeExpr::Parse("n*n")->Evaluate(huge).error().message(),
              HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(SizeExpr::Parse("n/(n-n)")->Evaluate(huge).error().message(),
              HasSubstr("division by zero"));
}

TEST(LaunchPlan, FormatsEveryStepAndListsKernelsOnce) {
  LaunchPlan plan;
  plan.buffers = {{"x", 0, 64, 1}, {"tmp", -1, 16, 2}};
  KernelLaunch launch;
  launch.kernel = "k<4>";
  launch.grid = {2, 1, 1};
  launch.block = {32, 1, 1};
  launch.dynamic_shared_bytes = 128;
  launch.arguments = {DevicePointer{0, 4}, std::vector<std::byte>{std::byte{7}, std::byte{0}}};
  plan.steps = {AttributeStep{"k<4>", "MaxDynamicSharedMemorySize", 128, 3},
                MemsetStep{{1, 0}, 0, 16, 4}, launch, CopyStep{{0, 0}, {1, 0}, 16, 6}, launch};
  EXPECT_EQ(
      plan.Format(),
      "buffer x 64 bytes\nbuffer tmp 16 bytes scratch\nattribute k<4> MaxDynamicSharedMemorySize "
      "128\n"
      "memset tmp value 0 bytes 16\nlaunch k<4> grid 2x1x1 block 32x1x1 shared 128 (x+4, 0x0007)\n"
      "copy x from tmp bytes 16\nlaunch k<4> grid 2x1x1 block 32x1x1 shared 128 (x+4, 0x0007)\n");
  EXPECT_THAT(plan.Kernels(), ElementsAre("k<4>"));
}

TEST(Stage, NamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(Stage::kDelivered); ++i) {
    EXPECT_EQ(*ParseStage(StageName(static_cast<Stage>(i))), static_cast<Stage>(i));
  }
  EXPECT_FALSE(ParseStage("nonsense").has_value());
}

TEST(Evaluation, TimeIsTheGeometricMeanOverShapes) {
  Evaluation evaluation;
  evaluation.timings.resize(2);
  evaluation.timings[0].median_s = 1e-3;
  evaluation.timings[1].median_s = 4e-3;
  EXPECT_NEAR(evaluation.TimeSeconds(), 2e-3, 1e-12);
}

}  // namespace
}  // namespace optiml
