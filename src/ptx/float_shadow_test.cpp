// Values in double beside those of f32, f16, bf16 and f64: errors of outputs and the lines where
// they are born.

#include "ptx/float_shadow.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "base/rng.h"
#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

using testing::HasSubstr;

struct ShadowRun {
  BufferError error;
  std::vector<float> values;
  std::vector<double> shadows;
  std::set<int32_t> unfollowed;
  uint64_t bytes_used = 0;
};

// Runs `body` as a kernel of the input (%rd1), the output (%rd2) and %r1, the thread's number.
ShadowRun RunBody(const std::string& body, const std::vector<float>& input, size_t outputs,
                  Dim3 grid = {1}, Dim3 block = {32}) {
  const std::string prologue =
      "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, "
      "%ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r1, %r2, %r3, %r4;\n";
  const Module module =
      MustParse(KernelText(prologue + body, 2, ".shared .align 8 .b8 tile[1024];"));
  DeviceMemory memory;
  const uint64_t in = Upload(memory, "x", input);
  const uint64_t out = Upload(memory, "y", std::vector<float>(outputs, 0));
  FloatShadow shadow;
  LaunchRequest request = Request(module, "k", grid, block, {Argument(in), Argument(out)});
  request.shadow = &shadow;
  const LaunchOutcome outcome = Launch(request, memory);
  EXPECT_TRUE(outcome.clean()) << outcome.message << body;
  ShadowRun run;
  const auto bytes = std::as_const(memory).Bytes(out);
  run.error = shadow.Compare(DType::kF32, out, bytes);
  run.values = Download<float>(memory, out);
  run.shadows = shadow.Values(DType::kF32, out, bytes);
  run.unfollowed = shadow.unfollowed_lines();
  run.bytes_used = shadow.bytes_used();
  request.shadow = nullptr;
  EXPECT_TRUE(Launch(request, memory).clean());
  EXPECT_EQ(Download<uint32_t>(memory, out).size(), outputs);
  return run;
}

std::vector<float> Random(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  Rng rng(seed);
  for (float& value : values) {
    value = static_cast<float>(rng.NextUnit());
  }
  return values;
}

double ExactSum(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) {
    sum += static_cast<double>(value);
  }
  return sum;
}

constexpr char kOneThread[] = "setp.ne.u32 %p1, %r1, 0; @%p1 bra END;\n";
// Sums n floats of the input in %f1 by `step`, which adds %f2.
std::string Loop(const std::string& step, size_t n) {
  return std::string(kOneThread) +
         fmt::format(
             "mov.f32 %f1, 0f00000000; mov.f32 %f3, 0f00000000; mov.u32 %r5, 0; mov.u64 %rd3, "
             "%rd1;\nL: ld.global.f32 %f2, [%rd3];\n.loc 1 7 1\n{}\n.loc 1 9 1\nadd.s64 %rd3, "
             "%rd3, "
             "4; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, {}; @%p2 bra L;\n"
             "st.global.f32 [%rd2], %f1;\nEND:",
             step, n);
}

constexpr char kNaive[] = "add.f32 %f1, %f1, %f2;";
// y = x - c; t = s + y; c = (t - s) - y; s = t.
constexpr char kKahan[] =
    "sub.f32 %f4, %f2, %f3; add.f32 %f5, %f1, %f4; sub.f32 %f6, %f5, %f1; sub.f32 %f3, %f6, %f4; "
    "mov.f32 %f1, %f5;";

TEST(FloatShadow, NaiveSumIsWorseThanPairwiseAndKahan) {
  constexpr size_t kCount = 4096;
  const std::vector<float> x = Random(kCount, 3);
  const ShadowRun naive = RunBody(Loop(kNaive, kCount), x, 1);
  const ShadowRun kahan = RunBody(Loop(kKahan, kCount), x, 1);
  // A tree in shared memory over 128 numbers of each of 32 lanes, by shuffles at the end.
  const ShadowRun pairwise = RunBody(
      "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd1, %rd3; mov.f32 %f1, 0f00000000; mov.u32 %r5, "
      "0;\nL: ld.global.f32 %f2, [%rd3];\nadd.f32 %f1, %f1, %f2; add.s64 %rd3, %rd3, 128; add.u32 "
      "%r5, %r5, 1; setp.lt.u32 %p2, %r5, 128; @%p2 bra L;\n" +
          [] {
            std::string text;
            for (const int apart : {16, 8, 4, 2, 1}) {
              text += fmt::format(
                  "mov.b32 %r6, %f1; shfl.sync.bfly.b32 %r7, %r6, {}, 31, -1; mov.b32 %f2, %r7; "
                  "add.f32 %f1, %f1, %f2;\n",
                  apart);
            }
            return text;
          }() +
          "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; st.global.f32 [%rd2], %f1;\nEND:",
      x, 1);
  const double exact = ExactSum(x);
  for (const ShadowRun* run : {&naive, &kahan, &pairwise}) {
    EXPECT_NEAR(run->shadows[0], exact, 1e-9);
    EXPECT_NEAR(run->error.absolute.error, std::fabs(static_cast<double>(run->values[0]) - exact),
                1e-9);
  }
  EXPECT_GT(naive.error.relative.error, 8 * pairwise.error.relative.error);
  EXPECT_GT(naive.error.relative.error, 8 * kahan.error.relative.error);
  EXPECT_LT(kahan.error.relative.error, 0x1p-23);
  // All of it is born in one line, and that line's share is the whole error.
  ASSERT_EQ(naive.error.absolute.births.size(), 1u);
  EXPECT_EQ(naive.error.absolute.births[0].line, 7);
  EXPECT_NEAR(std::fabs(naive.error.absolute.births[0].amount), naive.error.absolute.error,
              0.01 * naive.error.absolute.error);
}

TEST(FloatShadow, CancellationNamesTheLinesOfRoundingAndOfGrowth) {
  // (x + 1e8) - 1e8: the sum rounds x away, the difference shows it.
  const ShadowRun run =
      RunBody(std::string(kOneThread) +
                  "ld.global.f32 %f1, [%rd1];\n.loc 1 11 1\nadd.f32 %f2, %f1, "
                  "0f4CBEBC20;\n.loc 1 12 1\nsub.f32 %f3, %f2, 0f4CBEBC20;\n.loc 1 "
                  "13 1\nst.global.f32 [%rd2], %f3;\nEND:",
              {1.25f}, 1);
  EXPECT_EQ(run.values[0], 0.0f);
  EXPECT_EQ(run.shadows[0], 1.25);
  EXPECT_EQ(run.error.relative.error, 1.0);
  ASSERT_EQ(run.error.relative.births.size(), 1u);
  EXPECT_EQ(run.error.relative.births[0].line, 11);
  EXPECT_EQ(run.error.relative.births[0].amount, -1.25);
  EXPECT_EQ(run.error.relative.cancelled_line, 12);
  EXPECT_GE(run.error.relative.cancelled_bits, 24u);
}

TEST(FloatShadow, LinesThatContributeAreOrderedByWhatTheyContribute) {
  // Line 21 rounds near 1, line 22 near 1000: the second is worth more.
  const ShadowRun run = RunBody(
      std::string(kOneThread) +
          "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4];\n.loc 1 21 1\nmul.f32 %f3, %f1, "
          "%f1;\n.loc 1 22 1\nmul.f32 %f4, %f2, %f1;\n.loc 1 23 1\nadd.f32 %f5, %f3, %f4;\n"
          "st.global.f32 [%rd2], %f5;\nEND:",
      {1.1f, 1001.3f}, 1);
  const auto& births = run.error.absolute.births;
  ASSERT_EQ(births.size(), 3u);
  double sum = 0;
  for (size_t i = 0; i < births.size(); ++i) {
    sum += births[i].amount;
    EXPECT_GE(births[i].line, 21);
    EXPECT_LE(births[i].line, 23);
    EXPECT_TRUE(i == 0 || std::fabs(births[i].amount) <= std::fabs(births[i - 1].amount));
  }
  EXPECT_EQ(births[2].line, 21);
  // What was born adds up to the error.
  EXPECT_NEAR(sum, static_cast<double>(run.values[0]) - run.shadows[0], 1e-12);
}

TEST(FloatShadow, SharedLocalAndGenericMemoryKeepShadows) {
  const std::string third =
      "ld.global.f32 %f1, [%rd1];\n.loc 1 31 1\ndiv.rn.f32 %f2, %f1, 0f40400000;\n.loc 1 32 1\n";
  const std::string end = "st.global.f32 [%rd2], %f4;\nEND:";
  for (const std::string& way : {
           std::string(
               "mov.u32 %r5, tile; st.shared.f32 [%r5+8], %f2; ld.shared.f32 %f4, [%r5+8];"),
           std::string("st.shared.v2.f32 [tile+16], {%f1, %f2}; ld.shared.v2.f32 {%f3, %f4}, "
                       "[tile+16];"),
           std::string(".local .align 8 .b8 stack[64]; st.local.f32 [stack+4], %f2; ld.local.u32 "
                       "%r9, [stack+4]; mov.b32 %f4, %r9;"),
           std::string("mov.u64 %rd4, tile; cvta.shared.u64 %rd4, %rd4; st.f32 [%rd4], %f2; ld.f32 "
                       "%f4, [%rd4];"),
           std::string("st.global.f32 [%rd2], %f2; ld.global.b32 %r9, [%rd2]; mov.b32 %f4, %r9;"),
           std::string("mov.b64 %rd4, {%f2, %f1}; mov.b64 {%r8, %r9}, %rd4; mov.b32 %f4, %r8;"),
           std::string("setp.gt.f32 %p3, %f1, 0f00000000; selp.f32 %f4, %f2, %f1, %p3;"),
           std::string("neg.f32 %f3, %f2; abs.f32 %f4, %f3;"),
           std::string("cvt.f64.f32 %fd1, %f2; add.f64 %fd2, %fd1, %fd1; mul.f64 %fd2, %fd2, "
                       "0d3FE0000000000000; cvt.rn.f32.f64 %f4, %fd2;"),
       }) {
    const ShadowRun run = RunBody(std::string(kOneThread) + third + way + end, {1.0f}, 1);
    EXPECT_EQ(run.values[0], 1.0f / 3.0f) << way;
    EXPECT_EQ(run.shadows[0], 1.0 / 3.0) << way;
    ASSERT_FALSE(run.error.absolute.births.empty()) << way;
    EXPECT_EQ(run.error.absolute.births[0].line, 31) << way;
  }
}

TEST(FloatShadow, WhatIntegersMadeHasNone) {
  const std::string third = "ld.global.f32 %f1, [%rd1]; div.rn.f32 %f2, %f1, 0f40400000;\n";
  for (const std::string& way : {
           // Overwritten in memory, and in the register, by other bits and by the same ones.
           std::string("st.global.f32 [%rd2], %f2; mov.u32 %r9, 1077936128; st.global.u32 [%rd2], "
                       "%r9;"),
           std::string("mov.b32 %r9, %f2; xor.b32 %r9, %r9, 0; st.global.u32 [%rd2], %r9;"),
           std::string("cvt.rni.f32.f32 %f2, %f2; st.global.f32 [%rd2], %f2;"),
           std::string("cvt.rzi.s32.f32 %r9, %f2; cvt.rn.f32.s32 %f2, %r9; st.global.f32 [%rd2], "
                       "%f2;"),
           // Rounding on purpose: a magic number, and a directed mode.
           std::string("add.f32 %f2, %f2, 0f4B400000; sub.f32 %f2, %f2, 0f4B400000; st.global.f32 "
                       "[%rd2], %f2;"),
           std::string("add.rm.f32 %f2, %f2, 0f4B000000; st.global.f32 [%rd2], %f2;"),
       }) {
    const ShadowRun run = RunBody(std::string(kOneThread) + third + way + "\nEND:", {1.0f}, 1);
    EXPECT_EQ(run.error.inexact, 0) << way;
    EXPECT_EQ(run.shadows[0], static_cast<double>(run.values[0])) << way;
  }
}

TEST(FloatShadow, FunctionsAreComparedWithTheExactOnes) {
  struct Case {
    std::string instruction;
    double (*exact)(double);
  };
  for (const Case& c : {
           Case{"sqrt.rn.f32 %f2, %f1;", [](double x) { return std::sqrt(x); }},
           Case{"rcp.rn.f32 %f2, %f1;", [](double x) { return 1 / x; }},
           Case{"rsqrt.approx.f32 %f2, %f1;", [](double x) { return 1 / std::sqrt(x); }},
           Case{"ex2.approx.f32 %f2, %f1;", [](double x) { return std::exp2(x); }},
           Case{"lg2.approx.f32 %f2, %f1;", [](double x) { return std::log2(x); }},
           Case{"sin.approx.f32 %f2, %f1;", [](double x) { return std::sin(x); }},
           Case{"cos.approx.f32 %f2, %f1;", [](double x) { return std::cos(x); }},
           Case{"tanh.approx.f32 %f2, %f1;", [](double x) { return std::tanh(x); }},
           Case{"fma.rn.f32 %f2, %f1, %f1, %f1;", [](double x) { return x * x + x; }},
           Case{"max.f32 %f2, %f1, 0f00000000; mul.f32 %f2, %f2, %f1;",
                [](double x) { return x * x; }},
           Case{"mul.sat.f32 %f2, %f1, 0f3E99999A;",
                [](double x) { return x * static_cast<double>(0.3f); }},
       }) {
    // The argument carries an error of its own: a third of 2.3.
    const ShadowRun run = RunBody(
        std::string(kOneThread) + "ld.global.f32 %f1, [%rd1]; div.rn.f32 %f1, %f1, 0f40400000;\n" +
            c.instruction + "\nst.global.f32 [%rd2], %f2;\nEND:",
        {2.3f}, 1);
    const double x = static_cast<double>(2.3f) / 3;
    EXPECT_NEAR(run.shadows[0], c.exact(x), 1e-14) << c.instruction;
    EXPECT_NEAR(run.values[0], c.exact(x), 2e-3) << c.instruction;
    EXPECT_EQ(run.error.inexact, 1) << c.instruction;
    // To first order, what the lines contributed is the error.
    double born = 0;
    for (const ErrorBirth& birth : run.error.absolute.births) {
      born += birth.amount;
    }
    const double error = static_cast<double>(run.values[0]) - run.shadows[0];
    EXPECT_NEAR(born, error, 1e-3 * std::fabs(error) + 1e-13) << c.instruction;
  }
}

TEST(FloatShadow, HalfAndMixedArithmetic) {
  // Sums 64 numbers in f16, in pairs of f16, and numbers of f16 in f32.
  const std::vector<float> x = Random(64, 4);
  const std::string head = std::string(kOneThread) +
                           "mov.u32 %r5, 0; mov.u64 %rd3, %rd1; mov.b16 %h1, 0; mov.b32 %r20, 0; "
                           "mov.f32 %f1, 0f00000000;\nL: ld.global.f32 %f2, [%rd3];\n";
  const std::string tail =
      "\n.loc 1 99 1\nadd.s64 %rd3, %rd3, 4; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 64; @%p2 "
      "bra "
      "L;\n";
  const ShadowRun half =
      RunBody(head +
                  ".loc 1 41 1\ncvt.rn.f16.f32 %h2, %f2;\n.loc 1 42 1\nadd.f16 "
                  "%h1, %h1, %h2;" +
                  tail + "cvt.f32.f16 %f3, %h1; st.global.f32 [%rd2], %f3;\nEND:",
              x, 1);
  const ShadowRun pair = RunBody(
      head +
          ".loc 1 41 1\ncvt.rn.f16.f32 %h2, %f2; mov.b32 %r21, {%h2, %h2};\n.loc 1 42 "
          "1\nadd.f16x2 %r20, %r20, %r21;" +
          tail + "mov.b32 {%h3, %h4}, %r20; cvt.f32.f16 %f3, %h4; st.global.f32 [%rd2], %f3;\nEND:",
      x, 1);
  const ShadowRun mixed =
      RunBody(head +
                  ".loc 1 41 1\ncvt.rn.f16.f32 %h2, %f2; cvt.f32.f16 %f3, %h2;\n.loc 1 42 1\n"
                  "add.f32 %f1, %f1, %f3;" +
                  tail + "st.global.f32 [%rd2], %f1;\nEND:",
              x, 1);
  const double exact = ExactSum(x);
  for (const ShadowRun* run : {&half, &pair, &mixed}) {
    EXPECT_NEAR(run->shadows[0], exact, 1e-9);
    EXPECT_NEAR(run->error.absolute.error, std::fabs(static_cast<double>(run->values[0]) - exact),
                1e-6);
  }
  EXPECT_EQ(half.values[0], pair.values[0]);
  EXPECT_EQ(half.error.absolute.error, pair.error.absolute.error);
  EXPECT_GT(half.error.relative.error, 4 * mixed.error.relative.error);
  // Halves lose in the sum, the mixed one in the conversion.
  EXPECT_EQ(half.error.absolute.births[0].line, 42);
  EXPECT_EQ(mixed.error.absolute.births[0].line, 41);
}

TEST(FloatShadow, AtomicsAddShadowsInTheOrderOfTheBlocks) {
  const std::vector<float> x = Random(256, 5);
  for (const std::string& way : {
           std::string(".loc 1 51 1\nred.global.add.f32 [%rd2], %f1;"),
           std::string(".loc 1 51 1\natom.global.add.f32 %f2, [%rd2], %f1;"),
           // By compare-and-swap of the bits.
           std::string(
               "ld.global.u32 %r6, [%rd2];\nT: mov.b32 %f2, %r6;\n.loc 1 51 1\nadd.f32 %f3, "
               "%f2, %f1; mov.b32 %r7, %f3; atom.global.cas.b32 %r8, [%rd2], %r6, %r7; "
               "setp.ne.u32 %p3, %r8, %r6; mov.u32 %r6, %r8; @%p3 bra T;"),
       }) {
    const ShadowRun run = RunBody(
        "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd1, %rd3; ld.global.f32 %f1, [%rd3];\n" + way,
        x, 1, {4}, {64});
    EXPECT_NEAR(run.shadows[0], ExactSum(x), 1e-9) << way;
    EXPECT_GT(run.error.absolute.error, 0) << way;
    ASSERT_FALSE(run.error.absolute.births.empty()) << way;
    EXPECT_EQ(run.error.absolute.births[0].line, 51) << way;
  }
}

TEST(FloatShadow, LanesAndPredicatesKeepTheirOwn) {
  // Odd lanes divide, the others keep what they had; then all take their neighbour's.
  const ShadowRun run = RunBody(
      "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3; "
      "ld.global.f32 %f1, [%rd4]; and.b32 %r5, %r1, 1; setp.ne.u32 %p1, %r5, 0;\n"
      "@%p1 div.rn.f32 %f1, %f1, 0f40400000;\nshfl.sync.bfly.b32 %r6, %f1, 1, 31, -1; "
      "st.global.u32 [%rd5], %r6;",
      std::vector<float>(32, 1.0f), 32);
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(run.shadows[i], i % 2 == 0 ? 1.0 / 3.0 : 1.0) << i;
  }
  EXPECT_EQ(run.error.inexact, 16);
}

TEST(FloatShadow, OverflowIsAnInfiniteErrorOfItsLine) {
  const ShadowRun run =
      RunBody(std::string(kOneThread) +
                  "ld.global.f32 %f1, [%rd1];\n.loc 1 61 1\nmul.f32 %f2, %f1, "
                  "%f1;\n.loc 1 62 1\nsqrt.rn.f32 %f2, %f2; st.global.f32 [%rd2], "
                  "%f2;\nEND:",
              {1e30f}, 1);
  EXPECT_TRUE(std::isinf(run.values[0]));
  EXPECT_NEAR(run.shadows[0] / 1e30, 1, 1e-6);
  EXPECT_TRUE(std::isinf(run.error.absolute.error));
}

TEST(FloatShadow, TakesRoomOnlyForWhatIsInexact) {
  const std::string address =
      "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3; ";
  const std::string copy = address + "ld.global.f32 %f1, [%rd4]; st.global.f32 [%rd5], %f1;";
  EXPECT_EQ(RunBody(copy, Random(4096, 1), 4096, {16}, {256}).bytes_used, 0u);
  const std::string some = address +
                           "setp.gt.u32 %p1, %r1, 63; @%p1 bra END; ld.global.f32 %f1, [%rd4]; "
                           "div.rn.f32 %f1, %f1, 0f40400000; st.global.f32 [%rd5], %f1;\nEND:";
  const uint64_t used = RunBody(some, Random(4096, 1), 4096, {16}, {256}).bytes_used;
  EXPECT_GT(used, 0u);
  EXPECT_LE(used, 2u * 1024 * 13);  // of the 16 kB, the pages of 256 bytes that were touched
}

TEST(FloatShadow, LaterLaunchesGoOnFromEarlierOnes) {
  const std::string prologue = "ld.param.u64 %rd1, [p0];\n";
  const Module divide = MustParse(KernelText(
      prologue +
          "ld.global.f32 %f1, [%rd1]; div.rn.f32 %f1, %f1, 0f40400000; st.global.f32 [%rd1], "
          "%f1;",
      1));
  DeviceMemory memory;
  const uint64_t at = Upload(memory, "x", std::vector<float>{1.0f, 0.0f});
  FloatShadow shadow;
  for (int i = 0; i < 2; ++i) {
    LaunchRequest request = Request(divide, "k", {1}, {1}, {Argument(at)});
    request.shadow = &shadow;
    ASSERT_TRUE(Launch(request, memory).clean());
  }
  const auto bytes = std::as_const(memory).Bytes(at);
  EXPECT_EQ(shadow.Values(DType::kF32, at, bytes)[0], 1.0 / 3.0 / 3.0);
  // Copies by the host carry it on, other bytes end it.
  std::memcpy(memory.Bytes(at).data() + 4, memory.Bytes(at).data(), 4);
  shadow.Copy(at, at + 4, 4);
  EXPECT_EQ(shadow.Values(DType::kF32, at, bytes)[1], 1.0 / 3.0 / 3.0);
  const float other = 0.5f;
  std::memcpy(memory.Bytes(at).data(), &other, 4);
  EXPECT_EQ(shadow.Values(DType::kF32, at, bytes)[0], 0.5);
}

TEST(FloatShadow, ResultsAreTheSameWithAndWithout) {
  const Module module = ParseFile("bench/ptx/bench.ptx");
  constexpr int kRows = 7;
  constexpr int kColumns = 65;
  std::vector<float> outputs[2];
  double relative = 1;
  for (int with = 0; with < 2; ++with) {
    DeviceMemory memory;
    const uint64_t in = Upload(memory, "x", Random(kRows * kColumns, 2));
    const uint64_t out = Upload(memory, "y", std::vector<float>(kRows * kColumns, 0));
    FloatShadow shadow;
    LaunchRequest request =
        Request(module, "softmax", {1}, {32},
                {Argument(in), Argument(out), Argument(kRows), Argument(kColumns)});
    request.shadow = with != 0 ? &shadow : nullptr;
    ASSERT_TRUE(Launch(request, memory).clean());
    outputs[with] = Download<float>(memory, out);
    if (with != 0) {
      const BufferError error = shadow.Compare(DType::kF32, out, std::as_const(memory).Bytes(out));
      relative = error.relative.error;
      EXPECT_EQ(error.elements, kRows * kColumns);
      EXPECT_GT(error.inexact, kRows * kColumns / 2);
    }
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  // expf is a few units off, the sum of 65 terms and the division a few more.
  EXPECT_GT(relative, 0x1p-26);
  EXPECT_LT(relative, 12 * 0x1p-24);
}

}  // namespace
}  // namespace optiml::ptx
