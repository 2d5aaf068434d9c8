// wmma and wgmma with small integers, whose products are exact whatever the order of the sum.

#include <functional>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

// The matrices of a product as functions of row and column.
int A(uint32_t row, uint32_t k) {
  return static_cast<int>((row * 7 + k * 3) % 11) - 5;
}
int B(uint32_t k, uint32_t column) {
  return static_cast<int>((k * 5 + column * 2) % 13) - 6;
}
int C(uint32_t row, uint32_t column) {
  return static_cast<int>(row * 3 + column) % 17 - 8;
}
int Product(uint32_t row, uint32_t column, uint32_t k) {
  int sum = C(row, column);
  for (uint32_t i = 0; i < k; ++i) {
    sum += A(row, i) * B(i, column);
  }
  return sum;
}

uint16_t Half(int value) {
  if (value == 0) {
    return 0;
  }
  const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 |
                               (bits >> 13 & 0x3ff));
}

void Put(std::vector<std::byte>& bytes, const std::string& type, size_t index, int value) {
  const auto put = [&](const auto& number) {
    std::memcpy(bytes.data() + index * sizeof(number), &number, sizeof(number));
  };
  if (type == "f16") {
    put(Half(value));
  } else if (type == "bf16") {
    put(static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16));
  } else if (type == "f64") {
    put(static_cast<double>(value));
  } else if (type == "s8" || type == "u8") {
    put(static_cast<int8_t>(value));
  } else if (type == "s32") {
    put(value);
  } else {
    put(static_cast<float>(value));
  }
}

int Get(const std::vector<std::byte>& bytes, const std::string& type, size_t index) {
  const auto get = [&](auto number) {
    std::memcpy(&number, bytes.data() + index * sizeof(number), sizeof(number));
    return number;
  };
  if (type == "f16") {
    const uint16_t h = get(uint16_t{});
    const float magnitude =
        (h & 0x7fff) == 0
            ? 0
            : std::bit_cast<float>(((h >> 10 & 31u) + 112) << 23 | (h & 0x3ffu) << 13);
    return static_cast<int>((h & 0x8000) != 0 ? -magnitude : magnitude);
  }
  return type == "f64"   ? static_cast<int>(get(double{}))
         : type == "s32" ? get(int{})
                         : static_cast<int>(get(float{}));
}

uint32_t Width(const std::string& type) {
  return type == "f64"                     ? 8
         : type == "f16" || type == "bf16" ? 2
         : type == "s8" || type == "u8"    ? 1
                                           : 4;
}

struct WmmaCase {
  uint32_t m, n, k;
  std::string type;  // of A and B
  std::string accumulator;
  uint32_t a_registers, b_registers, c_registers;
};

std::string List(const std::string& name, uint32_t count) {
  std::string text = "{";
  for (uint32_t i = 0; i < count; ++i) {
    text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  }
  return text + "}";
}

TEST(Wmma, EveryShapeTypeAndLayout) {
  const WmmaCase kCases[] = {
      {16, 16, 16, "f16", "f32", 8, 8, 8},  {32, 8, 16, "f16", "f32", 8, 8, 8},
      {8, 32, 16, "f16", "f32", 8, 8, 8},   {16, 16, 16, "f16", "f16", 8, 8, 4},
      {32, 8, 16, "f16", "f16", 8, 8, 4},   {8, 32, 16, "f16", "f16", 8, 8, 4},
      {16, 16, 16, "bf16", "f32", 4, 4, 8}, {32, 8, 16, "bf16", "f32", 8, 2, 8},
      {8, 32, 16, "bf16", "f32", 2, 8, 8},  {16, 16, 16, "s8", "s32", 2, 2, 8},
      {32, 8, 16, "s8", "s32", 4, 1, 8},    {8, 32, 16, "s8", "s32", 1, 4, 8},
      {16, 16, 8, "tf32", "f32", 4, 4, 8},  {8, 8, 4, "f64", "f64", 1, 1, 2},
  };
  for (const WmmaCase& c : kCases) {
    for (int layout = 0; layout < 16; ++layout) {
      const bool a_row = (layout & 1) != 0;
      const bool b_row = (layout & 2) != 0;
      const bool c_row = (layout & 4) != 0;
      const bool stride_in_register = (layout & 8) != 0;
      // Strides beyond the matrix's own, a multiple of 16 bytes.
      const uint32_t stride = 48;
      const auto shared_or_global = stride_in_register ? ".global" : "";
      std::vector<std::byte> a(size_t{stride} * 32 * Width(c.type));
      std::vector<std::byte> b(a.size());
      std::vector<std::byte> accumulator(size_t{stride} * 32 * Width(c.accumulator));
      const auto at = [&](bool row_major, uint32_t row, uint32_t column) {
        return row_major ? size_t{row} * stride + column : size_t{column} * stride + row;
      };
      for (uint32_t k = 0; k < c.k; ++k) {
        for (uint32_t row = 0; row < c.m; ++row) {
          Put(a, c.type, at(a_row, row, k), A(row, k));
        }
        for (uint32_t column = 0; column < c.n; ++column) {
          Put(b, c.type, at(b_row, k, column), B(k, column));
        }
      }
      for (uint32_t row = 0; row < c.m; ++row) {
        for (uint32_t column = 0; column < c.n; ++column) {
          Put(accumulator, c.accumulator, at(c_row, row, column), C(row, column));
        }
      }
      const std::string shape = fmt::format("m{}n{}k{}", c.m, c.n, c.k);
      const std::string bits = c.type == "f64" ? "64" : "32";
      const auto name = [](bool row) { return row ? "row" : "col"; };
      const std::string types = c.type == "f16"
                                    ? fmt::format("{0}.{0}", c.accumulator)
                                    : fmt::format("{0}.{1}.{1}.{0}", c.accumulator, c.type);
      const std::string step = stride_in_register ? "%r60" : std::to_string(stride);
      std::string body = fmt::format(
          ".reg .b{0} %a<{1}>, %b<{2}>, %c<{3}>;\nld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, "
          "[p1];\nld.param.u64 "
          "%rd3, [p2];\nmov.u32 %r60, {4};\n",
          bits, c.a_registers, c.b_registers, c.c_registers, stride);
      body += fmt::format("wmma.load.a.sync.aligned.{}.{}{}.{} {}, [%rd1], {};\n", name(a_row),
                          shape, shared_or_global, c.type, List("a", c.a_registers), step);
      body += fmt::format("wmma.load.b.sync.aligned.{}.{}{}.{} {}, [%rd2], {};\n", name(b_row),
                          shape, shared_or_global, c.type, List("b", c.b_registers), step);
      body += fmt::format("wmma.load.c.sync.aligned.{}.{}{}.{} {}, [%rd3], {};\n", name(c_row),
                          shape, shared_or_global, c.accumulator, List("c", c.c_registers), step);
      body +=
          fmt::format("wmma.mma.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};\n", name(a_row),
                      name(b_row), shape, types, List("c", c.c_registers), List("a", c.a_registers),
                      List("b", c.b_registers), List("c", c.c_registers));
      body += fmt::format("wmma.store.d.sync.aligned.{}.{}{}.{} [%rd3], {}, {};\n", name(c_row),
                          shape, shared_or_global, c.accumulator, List("c", c.c_registers), step);
      const Module module = MustParse(KernelText(body, 3));
      DeviceMemory memory;
      const uint64_t pa = Upload(memory, "a", a);
      const uint64_t pb = Upload(memory, "b", b);
      const uint64_t pc = Upload(memory, "c", accumulator);
      LaunchRequest request =
          Request(module, "k", {1}, {32}, {Argument(pa), Argument(pb), Argument(pc)});
      request.counters = true;
      const LaunchOutcome outcome = Launch(request, memory);
      ASSERT_TRUE(outcome.clean()) << outcome.message << "\n" << body;
      const auto got = Download<std::byte>(memory, pc);
      for (uint32_t row = 0; row < c.m; ++row) {
        for (uint32_t column = 0; column < c.n; ++column) {
          ASSERT_EQ(Get(got, c.accumulator, at(c_row, row, column)), Product(row, column, c.k))
              << body << row << " " << column;
        }
      }
      EXPECT_EQ(outcome.counters.ByClass(InstructionClass::kMatrix), 32u);
      EXPECT_GT(outcome.counters.global_load.sectors, 0u);
    }
  }
}

TEST(Wmma, ALoadBeyondTheBufferIsFound) {
  const Module module = MustParse(
      KernelText("ld.param.u64 %rd1, [p0];\nwmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
                 "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, "
                 "%r7}, [%rd1], 16;\n",
                 1));
  DeviceMemory memory;
  const uint64_t small = Upload(memory, "small", std::vector<uint16_t>(255));
  const LaunchOutcome outcome = Launch(Request(module, "k", {1}, {32}, {Argument(small)}), memory);
  ASSERT_EQ(outcome.status, LaunchStatus::kFault);
  EXPECT_EQ(outcome.findings[0].kind, "out of bounds");
}

// wgmma of a warpgroup: A row-major in shared memory, B with rows of n, both without swizzle; D to
// global memory.
constexpr uint32_t kGroupK = 16;

std::string Group(const std::string& between, const std::string& scale = "1, 1, 1",
                  const std::string& before = "wgmma.fence.sync.aligned;\n") {
  return
      // Thread t copies 16 + 4 words: 2048 bytes of A, 256 of B; %rd5, %rd6: descriptors.
      "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, "
      "smem;\n"
      "mad.lo.u32 %r3, %r1, 20, %r2;\nmul.wide.u32 %rd3, %r1, 20;\nadd.u64 %rd3, %rd3, %rd1;\n"
      "ld.global.u32 %r4, [%rd3];\nst.shared.u32 [%r3], %r4;\nld.global.u32 %r4, "
      "[%rd3+4];\nst.shared.u32 [%r3+4], "
      "%r4;\nld.global.u32 %r4, [%rd3+8];\nst.shared.u32 [%r3+8], %r4;\nld.global.u32 %r4, "
      "[%rd3+12];\nst.shared.u32 "
      "[%r3+12], %r4;\nld.global.u32 %r4, [%rd3+16];\nst.shared.u32 [%r3+16], "
      "%r4;\nfence.proxy.async;\nbar.sync 0;\n"
      "bfe.u32 %r5, %r2, 4, 14;\ncvt.u64.u32 %rd4, %r5;\nor.b64 %rd5, %rd4, "
      "0x0000001000080000;\nadd.u64 %rd6, %rd5, "
      "128;\nmov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\nmov.f32 %f3, 0f40400000;\nmov.f32 "
      "%f4, "
      "0f40800000;\n" +
      before +
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd5, %rd6, " +
      scale + ", 0, 0;\n" + between +
      "mul.wide.u32 %rd7, %r1, 16;\nadd.u64 %rd7, %rd7, %rd2;\nst.global.v4.f32 [%rd7], {%f1, %f2, "
      "%f3, %f4};\n";
}

struct GroupRun {
  LaunchOutcome outcome;
  std::vector<float> d;  // [64][8]
};

GroupRun RunGroup(const std::string& body, uint32_t threads = 128) {
  const Module module = MustParse(KernelText(body, 2, ".shared .align 1024 .b8 smem[2560];\n"));
  std::vector<uint16_t> image(1280);
  for (uint32_t row = 0; row < 64; ++row) {
    for (uint32_t k = 0; k < kGroupK; ++k) {
      image[row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8] = Half(A(row, k));
    }
  }
  for (uint32_t column = 0; column < 8; ++column) {
    for (uint32_t k = 0; k < kGroupK; ++k) {
      image[1024 + k / 8 * 64 + column * 8 + k % 8] = Half(B(k, column));
    }
  }
  DeviceMemory memory;
  const uint64_t in = Upload(memory, "in", image);
  const uint64_t out = Upload(memory, "out", std::vector<float>(size_t{threads} * 4));
  LaunchRequest request = Request(module, "k", {1}, {threads}, {Argument(in), Argument(out)});
  request.checks = {true, true, false, true};
  GroupRun run;
  run.outcome = Launch(request, memory);
  const auto fragments = Download<float>(memory, out);
  run.d.resize(64 * 8);
  for (uint32_t t = 0; t < std::min(threads, 128u); ++t) {
    for (uint32_t r = 0; r < 4; ++r) {
      run.d[(t / 32 * 16 + t % 32 / 4 + r / 2 * 8) * 8 + t % 4 * 2 + r % 2] = fragments[t * 4 + r];
    }
  }
  return run;
}

const char* const kWait = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";

void ExpectProduct(const GroupRun& run, int scale, bool add) {
  ASSERT_TRUE(run.outcome.clean())
      << run.outcome.message
      << (run.outcome.findings.empty() ? "" : run.outcome.findings[0].detail);
  for (uint32_t row = 0; row < 64; ++row) {
    for (uint32_t column = 0; column < 8; ++column) {
      const int initial = static_cast<int>(1 + row % 16 / 8 * 2 + column % 2);
      const int product = Product(row, column, kGroupK) - C(row, column);
      ASSERT_EQ(run.d[row * 8 + column], static_cast<float>(scale * product + (add ? initial : 0)))
          << row << " " << column;
    }
  }
}

TEST(Warpgroup, ProductsAddToTheAccumulators) {
  ExpectProduct(RunGroup(Group(kWait)), 1, true);
  ExpectProduct(RunGroup(Group(kWait, "0, 1, 1")), 1, false);
  ExpectProduct(RunGroup(Group(kWait, "1, -1, 1")), -1, true);
  ExpectProduct(RunGroup(Group(kWait, "1, -1, -1")), 1, true);
  ExpectProduct(RunGroup(Group(kWait, "%p1, 1, 1",
                               "setp.eq.u32 %p1, %r2, %r2;\nwgmma.fence.sync.aligned;\n")),
                1, true);
  ExpectProduct(RunGroup(Group(kWait, "%p1, 1, 1",
                               "setp.ne.u32 %p1, %r2, %r2;\nwgmma.fence.sync.aligned;\n")),
                1, false);
}

const std::string kAgain =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd5, %rd6, 1, 1, 1, "
    "0, 0;\n";

TEST(Warpgroup, SeveralProductsShareAccumulators) {
  ExpectProduct(RunGroup(Group(kAgain + kAgain + kWait)), 3, true);
  // Over groups, of which the wait lets the last run on until the second wait.
  ExpectProduct(
      RunGroup(Group("wgmma.commit_group.sync.aligned;\n" + kAgain +
                     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n"
                     "wgmma.wait_group.sync.aligned 0;\n")),
      2, true);
}

TEST(Warpgroup, ResultsAreInvisibleBeforeTheWait) {
  // Copied out before the wait by arithmetic: no result, and no old value either.
  const GroupRun early = RunGroup(
      Group("add.f32 %f5, %f1, 0f00000000;\nadd.f32 %f6, %f2, 0f00000000;\nadd.f32 %f7, %f3, "
            "0f00000000;\nadd.f32 %f8, %f4, "
            "0f00000000;\n" +
            std::string(kWait) +
            "mov.f32 %f1, %f5;\nmov.f32 %f2, %f6;\nmov.f32 %f3, %f7;\nmov.f32 %f4, %f8;\n"));
  for (const float x : early.d) {
    ASSERT_TRUE(x != x);
  }
  // A wait that lets the group run on does not finish it.
  const GroupRun running =
      RunGroup(Group("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n"));
  for (const float x : running.d) {
    ASSERT_TRUE(x != x);
  }
  // Without a commit there is nothing to wait for.
  const GroupRun uncommitted = RunGroup(Group("wgmma.wait_group.sync.aligned 0;\n"));
  for (const float x : uncommitted.d) {
    ASSERT_TRUE(x != x);
  }
}

// The assembler keeps accumulators in place where PTX text copies them.
TEST(Warpgroup, CopiesOfUnfinishedAccumulatorsGetTheResult) {
  const std::string move =
      "mov.f32 %f11, %f1;\nmov.f32 %f12, %f2;\nmov.f32 %f13, %f3;\nmov.f32 %f14, %f4;\n";
  const std::string again =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f11, %f12, %f13, %f14}, %rd5, %rd6, 1, "
      "1, 1, 0, 0;\n";
  const std::string back =
      "mov.f32 %f1, %f11;\nmov.f32 %f2, %f12;\nmov.f32 %f3, %f13;\nmov.f32 %f4, %f14;\n";
  ExpectProduct(RunGroup(Group(move + again + kWait + back)), 2, true);
}

TEST(Warpgroup, ARegisterOperandGivesTheSame) {
  // Fragments of A read from shared memory by hand: rows lane / 4 and 8 more, k in pairs.
  std::string loads =
      "shr.u32 %r20, %r1, 5;\nmul.lo.u32 %r20, %r20, 512;\nand.b32 %r21, %r1, 31;\nshr.u32 %r22, "
      "%r21, 2;\nmad.lo.u32 "
      "%r20, %r22, 16, %r20;\nand.b32 %r21, %r21, 3;\nmad.lo.u32 %r20, %r21, 4, %r20;\nadd.u32 "
      "%r20, %r20, %r2;\n"
      "ld.shared.b32 %r30, [%r20];\nld.shared.b32 %r31, [%r20+256];\nld.shared.b32 %r32, "
      "[%r20+128];\nld.shared.b32 "
      "%r33, [%r20+384];\nwgmma.fence.sync.aligned;\n";
  std::string body = Group(kWait, "1, 1, 1", loads);
  const std::string from = "%rd5, %rd6, 1, 1, 1, 0, 0";
  body.replace(body.find(from), from.size(), "{%r30, %r31, %r32, %r33}, %rd6, 1, 1, 1, 0");
  ExpectProduct(RunGroup(body), 1, true);
}

TEST(Warpgroup, MistakesAreFound) {
  const GroupRun unfenced = RunGroup(Group(kWait, "1, 1, 1", ""));
  ASSERT_EQ(unfenced.outcome.findings.size(), 1u);
  EXPECT_NE(unfenced.outcome.findings[0].detail.find("without a wgmma.fence"), std::string::npos);
  const GroupRun overwritten =
      RunGroup(Group("bar.sync 0;\nst.shared.u32 [%r3], %r2;\n" + std::string(kWait)));
  ASSERT_FALSE(overwritten.outcome.findings.empty());
  EXPECT_NE(overwritten.outcome.findings[0].detail.find("changed while"), std::string::npos)
      << overwritten.outcome.findings[0].detail;
  std::string body = Group(kWait);
  const std::string fence = "fence.proxy.async;\n";
  body.erase(body.find(fence), fence.size());
  const GroupRun unordered = RunGroup(body);
  ASSERT_FALSE(unordered.outcome.findings.empty());
  EXPECT_NE(unordered.outcome.findings[0].detail.find("without a fence.proxy.async"),
            std::string::npos)
      << unordered.outcome.findings[0].detail;
  // A store that no barrier orders with the product's reads.
  std::string unsynchronised = Group(kWait);
  unsynchronised.erase(unsynchronised.find("bar.sync 0;\n"), 12);
  EXPECT_FALSE(RunGroup(unsynchronised).outcome.findings.empty());
  // B's descriptor points past the end.
  const GroupRun outside =
      RunGroup(Group(kWait, "1, 1, 1", "wgmma.fence.sync.aligned;\nadd.u64 %rd6, %rd6, 64;\n"));
  ASSERT_EQ(outside.outcome.status, LaunchStatus::kFault);
  EXPECT_EQ(outside.outcome.findings[0].kind, "out of bounds");
  const GroupRun part = RunGroup(Group("setp.lt.u32 %p2, %r1, 16;\n@%p2 " + kAgain + kWait));
  ASSERT_EQ(part.outcome.status, LaunchStatus::kFault);
  EXPECT_EQ(part.outcome.findings[0].kind, "divergent warp instruction");
}

}  // namespace
}  // namespace optiml::ptx
