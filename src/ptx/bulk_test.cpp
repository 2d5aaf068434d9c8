// cp.async.bulk: plain and tensor copies, their completion, and what early accesses do.

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "ptx/tensor_map.h"
#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

using testing::HasSubstr;

constexpr Checks kAll{true, true, false, true};
constexpr char kShared[] = ".shared .align 1024 .b8 s[4096];\n.shared .align 8 .b8 b[16];\n";
constexpr char kPrologue[] =
    "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; mov.u32 %r4, %tid.x; setp.eq.u32 %p1, %r4, "
    "0; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3; mov.u32 %r20, s; shl.b32 %r21, %r4, "
    "2; "
    "add.u32 %r20, %r20, %r21; @%p1 mbarrier.init.shared.b64 [b], 1; bar.sync 0;\n.loc 1 5 1\n";

struct Outcome {
  LaunchOutcome outcome;
  std::vector<uint32_t> out;
};

// p0: 1024 words 1000, 1001, ...; p1: 1024 words of 7.
Outcome Execute(const std::string& body, Checks checks = kAll, Dim3 block = {256}) {
  const Module module = MustParse(KernelText(kPrologue + body, 2, kShared));
  DeviceMemory memory;
  std::vector<uint32_t> in(1024);
  std::iota(in.begin(), in.end(), 1000u);
  const uint64_t from = Upload(memory, "x", in);
  const uint64_t to = Upload(memory, "y", std::vector<uint32_t>(1024, 7));
  LaunchRequest request = Request(module, "k", {1}, block, {Argument(from), Argument(to)});
  request.checks = checks;
  request.counters = true;
  request.step_limit = uint64_t{1} << 26;
  Outcome run;
  run.outcome = Launch(request, memory);
  run.out = Download<uint32_t>(memory, to);
  return run;
}

std::string Findings(const Outcome& run) {
  std::string text = run.outcome.message;
  for (const Finding& finding : run.outcome.findings) {
    text += "\n" + finding.kind + ": " + finding.detail;
  }
  return text;
}

bool Races(const Outcome& run) {
  return std::any_of(run.outcome.findings.begin(), run.outcome.findings.end(),
                     [](const Finding& finding) { return finding.kind == "race"; });
}

Finding First(const Outcome& run) {
  EXPECT_FALSE(run.outcome.findings.empty()) << LaunchStatusName(run.outcome.status);
  return run.outcome.findings.empty() ? Finding() : run.outcome.findings.front();
}

constexpr char kLoad[] =
    "@!%p1 bra WAIT; mbarrier.arrive.expect_tx.shared.b64 _, [b], 1024; "
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1+64], 1024, [b];";
constexpr char kWait[] = "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [b], 0; @!%p2 bra WAIT;";
constexpr char kOut[] = "ld.shared.u32 %r9, [%r20]; st.global.u32 [%rd4], %r9;";

TEST(Bulk, LoadsCompleteAtTheirMbarrier) {
  const Outcome run = Execute(std::string(kLoad) + kWait + kOut);
  EXPECT_TRUE(run.outcome.clean()) << Findings(run);
  for (uint32_t i = 0; i < 256; ++i) {
    EXPECT_EQ(run.out[i], 1016 + i);
  }
  EXPECT_EQ(run.outcome.counters.bulk_copy.requests, 1u);
  EXPECT_EQ(run.outcome.counters.bulk_copy.bytes, 1024u);
  EXPECT_EQ(run.outcome.counters.global_load.sectors, 32u);
  EXPECT_EQ(run.outcome.counters.shared_store.wavefronts, 8u);
}

TEST(Bulk, ReadsBeforeTheWaitSeeOldBytes) {
  const Outcome run =
      Execute("st.shared.u32 [%r20], 3; bar.sync 0;" + std::string(kLoad) + "WAIT:" + kOut);
  EXPECT_EQ(run.out[5], 3u);
  EXPECT_EQ(First(run).kind, "race");
  EXPECT_THAT(First(run).detail,
              HasSubstr("the asynchronous copy of thread (0,0,0) at line 5 that writes it has not "
                        "been waited for"));
  // The block also ends before the copy has landed.
  EXPECT_THAT(Findings(run), HasSubstr("ended before the copy into its shared memory had landed"));
}

TEST(Bulk, EveryReaderMustWait) {
  // Warp 0 waits; the others do not.
  const Outcome run = Execute(std::string(kLoad) +
                              "setp.ge.u32 %p3, %r4, 32; WAIT: setp.ge.u32 %p3, "
                              "%r4, 32; @%p3 bra READ; SPIN: "
                              "mbarrier.try_wait.parity.shared.b64 %p2, [b], 0; "
                              "@!%p2 bra SPIN; READ: " +
                              kOut);
  EXPECT_TRUE(Races(run)) << Findings(run);
  // A barrier of the block hands the landing on.
  const Outcome good = Execute(std::string(kLoad) +
                               "WAIT: setp.ge.u32 %p3, %r4, 32; @%p3 bra READ; SPIN: "
                               "mbarrier.try_wait.parity.shared.b64 %p2, [b], 0; @!%p2 bra SPIN; "
                               "READ: bar.sync 0;" +
                               kOut);
  EXPECT_TRUE(good.outcome.clean()) << Findings(good);
}

TEST(Bulk, BytesOfAnotherNumberAreADeadlock) {
  std::string body = std::string(kLoad) + kWait + kOut;
  body.replace(body.find("[b], 1024;"), 10, "[b], 1040;");
  const Outcome run = Execute(body);
  EXPECT_EQ(run.outcome.status, LaunchStatus::kDeadlock);
  EXPECT_THAT(run.outcome.message, HasSubstr("lacks 0 of 1 arrivals and 16 bytes"));
}

TEST(Bulk, BoundsAndAlignment) {
  const auto first = [](const std::string& copy) {
    const Outcome run = Execute(
        "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
        "bytes " +
        copy + ";");
    EXPECT_EQ(run.outcome.status, LaunchStatus::kFault) << copy << Findings(run);
    return First(run);
  };
  EXPECT_THAT(first("[s+4096], [%rd1], 16, [b]").detail, HasSubstr("past the end of s"));
  EXPECT_THAT(first("[s+4080], [%rd1], 32, [b]").detail, HasSubstr("32 bytes of byte 4080 of s"));
  EXPECT_THAT(first("[s], [%rd1+4080], 32, [b]").detail,
              HasSubstr("bulk copy from 32 bytes at x["));
  EXPECT_EQ(first("[s+8], [%rd1], 32, [b]").kind, "misaligned");
  EXPECT_EQ(first("[s], [%rd1+8], 32, [b]").kind, "misaligned");
  EXPECT_EQ(first("[s], [%rd1], 24, [b]").kind, "misaligned");
  EXPECT_EQ(first("[s], [%rd1], 32, [b+8]").kind, "mbarrier");
}

constexpr char kFill[] = "add.u32 %r9, %r4, 50; st.shared.u32 [%r20], %r9;";
constexpr char kStore[] =
    "@!%p1 bra END; cp.async.bulk.global.shared::cta.bulk_group [%rd2], [s], 1024; "
    "cp.async.bulk.commit_group;";

TEST(Bulk, StoresArriveAtTheirWait) {
  const Outcome run =
      Execute(std::string(kFill) + "fence.proxy.async.shared::cta; bar.sync 0;" + kStore +
              "cp.async.bulk.wait_group 0; ld.global.u32 %r9, [%rd2+4]; "
              "st.global.u32 [%rd2+2048], %r9; END:");
  EXPECT_TRUE(run.outcome.clean()) << Findings(run);
  for (uint32_t i = 0; i < 256; ++i) {
    EXPECT_EQ(run.out[i], 50 + i);
  }
  EXPECT_EQ(run.out[512], 51u);
  EXPECT_EQ(run.outcome.counters.global_store.sectors, 32u + 1);
  // .read says that the source was read, not that the destination was written.
  const Outcome early = Execute(std::string(kFill) + "fence.proxy.async; bar.sync 0;" + kStore +
                                "cp.async.bulk.wait_group.read 0; ld.global.u32 %r9, [%rd2+4]; "
                                "st.global.u32 [%rd2+2048], %r9; END:");
  EXPECT_TRUE(early.outcome.clean()) << Findings(early);
  EXPECT_EQ(early.out[512], 7u);
  EXPECT_EQ(early.out[1], 51u);
}

TEST(Bulk, SourcesMustStayUntilTheyAreRead) {
  const std::string overwrite = "st.shared.u32 [s], 1;";
  const std::string start = std::string(kFill) + "fence.proxy.async; bar.sync 0;" + kStore;
  const Outcome good = Execute(start + "cp.async.bulk.wait_group.read 0;" + overwrite + "END:");
  EXPECT_TRUE(good.outcome.clean()) << Findings(good);
  EXPECT_EQ(good.out[0], 50u);
  const Outcome bad = Execute(start + overwrite + "cp.async.bulk.wait_group 0; END:");
  EXPECT_EQ(bad.out[0], 1u);
  EXPECT_THAT(First(bad).detail, HasSubstr("that reads it has not been waited for"));
  // A block must not end before its copies have read.
  const Outcome end = Execute(start + "END:");
  EXPECT_EQ(First(end).kind, "asynchronous copy");
  EXPECT_THAT(First(end).detail, HasSubstr("cp.async.bulk.wait_group.read was missing"));
}

TEST(Bulk, GenericWritesNeedAProxyFence) {
  const Outcome run =
      Execute(std::string(kFill) + "bar.sync 0;" + kStore + "cp.async.bulk.wait_group 0; END:");
  EXPECT_EQ(First(run).kind, "race");
  EXPECT_THAT(First(run).detail, HasSubstr("without a fence.proxy.async in between"));
  // A fence before the store does not cover it; one by the copying thread after the barrier does.
  EXPECT_EQ(First(Execute("fence.proxy.async;" + std::string(kFill) + "bar.sync 0;" + kStore +
                          "cp.async.bulk.wait_group 0; END:"))
                .kind,
            "race");
  const Outcome late = Execute(std::string(kFill) + "bar.sync 0; fence.proxy.async;" + kStore +
                               "cp.async.bulk.wait_group 0; END:");
  EXPECT_TRUE(late.outcome.clean()) << Findings(late);
  // Without a barrier the copy races with the other warps' stores.
  EXPECT_TRUE(Races(Execute(std::string(kFill) + "fence.proxy.async;" + kStore +
                            "cp.async.bulk.wait_group 0; END:")));
}

TEST(Bulk, TakePartInTheRacesOfGlobalMemory) {
  constexpr Checks kGlobal{true, true, false, true, true};
  // A load against what another thread stored before it.
  const std::string store_first =
      "setp.eq.u32 %p3, %r4, 100; add.s64 %rd5, %rd1, 64; @%p3 st.global.u32 [%rd5], %r4;";
  EXPECT_TRUE(Races(Execute(store_first + kLoad + kWait + kOut, kGlobal)));
  const Outcome ordered = Execute(store_first + "bar.sync 0;" + kLoad + kWait + kOut, kGlobal);
  EXPECT_TRUE(ordered.outcome.clean()) << Findings(ordered);
  // In place: whoever waited for the load may store where it came from. The issuer arrives before
  // it copies, so a tag of the issuer would call this a race.
  const Outcome in_place =
      Execute(std::string(kLoad) + kWait +
                  "ld.shared.u32 %r9, [%r20]; add.s64 %rd5, %rd1, %rd3; st.global.u32 [%rd5+64], "
                  "%r9;",
              kGlobal);
  EXPECT_TRUE(in_place.outcome.clean()) << Findings(in_place);
  // A store is its thread's, when it lands.
  const std::string start = std::string(kFill) + "fence.proxy.async; bar.sync 0;" + kStore +
                            "cp.async.bulk.wait_group 0; END:";
  const std::string load = "ld.global.u32 %r9, [%rd4];";
  EXPECT_TRUE(Races(Execute(start + load, kGlobal)));
  const Outcome waited = Execute(start + "bar.sync 0;" + load, kGlobal);
  EXPECT_TRUE(waited.outcome.clean()) << Findings(waited);
  // A barrier without the wait orders nothing.
  EXPECT_TRUE(Races(Execute(std::string(kFill) + "fence.proxy.async; bar.sync 0;" + kStore +
                                "END: bar.sync 0;" + load + "cp.async.bulk.wait_group 0;",
                            kGlobal)));
}

TEST(Bulk, ReductionsCombineInGlobalMemory) {
  const Outcome run =
      Execute(std::string(kFill) +
              "fence.proxy.async; bar.sync 0; @!%p1 bra END; "
              "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [s], "
              "512; cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 "
              "[%rd2+512], [s], 512; cp.async.bulk.commit_group; "
              "cp.async.bulk.wait_group 0; END:");
  EXPECT_TRUE(run.outcome.clean()) << Findings(run);
  EXPECT_EQ(run.out[3], 7u + 53);
  EXPECT_EQ(run.out[128 + 3], 53u);
}

// ---- tensors ----

std::string MapKernel(const std::string& body) {
  return Header() + kShared +
         "\n.visible .entry k(.param .align 128 .b8 map[128], .param .u64 p1)\n{\n.reg .b32 "
         "%r<64>;\n.reg .b64 %rd<64>;\n.reg .pred %p<16>;\nmov.b64 %rd1, map; cvta.param.u64 %rd1, "
         "%rd1; ld.param.u64 %rd2, [p1]; mov.u32 %r4, %tid.x; setp.eq.u32 %p1, %r4, 0; "
         "mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3; mov.u32 %r20, s; shl.b32 %r21, %r4, "
         "2; add.u32 %r20, %r20, %r21; @%p1 mbarrier.init.shared.b64 [b], 1; bar.sync 0;\n.loc 1 5 "
         "1\n" +
         body + "\nret;\n}\n";
}

class Tensors : public testing::Test {
 protected:
  Outcome Run(const std::string& body, TensorMap map, uint32_t threads) {
    const Module module = MustParse(MapKernel(body));
    DeviceMemory memory;
    std::vector<uint32_t> in(64 * 64);
    std::iota(in.begin(), in.end(), 0u);
    map.address = Upload(memory, "tensor", in);
    const uint64_t to = Upload(memory, "y", std::vector<uint32_t>(1024, 7));
    const auto encoded = EncodeTensorMap(map);
    EXPECT_TRUE(encoded) << encoded.error().message();
    LaunchRequest request =
        Request(module, "k", {1}, {threads},
                {std::vector<std::byte>(encoded->begin(), encoded->end()), Argument(to)});
    request.checks = kAll;
    request.counters = true;
    request.step_limit = uint64_t{1} << 26;
    Outcome run;
    run.outcome = Launch(request, memory);
    run.out = Download<uint32_t>(memory, to);
    tensor_ = Download<uint32_t>(memory, map.address);
    return run;
  }
  static TensorMap Map(uint32_t rank, std::array<uint32_t, 5> box) {
    TensorMap map;
    map.rank = rank;
    map.type = TensorType::kU32;
    map.dimensions = rank == 1   ? std::array<uint64_t, 5>{4096, 1, 1, 1, 1}
                     : rank == 2 ? std::array<uint64_t, 5>{64, 64, 1, 1, 1}
                                 : std::array<uint64_t, 5>{16, 16, 16, 1, 1};
    map.strides = rank == 2 ? std::array<uint64_t, 5>{0, 256, 0, 0, 0}
                            : std::array<uint64_t, 5>{0, 64, 1024, 0, 0};
    map.box = box;
    return map;
  }
  static std::string Load(uint32_t rank, const std::string& coordinates, uint32_t bytes) {
    return fmt::format(
        "@!%p1 bra WAIT; mov.u32 %r30, 60; mov.u32 %r31, 5; mov.u32 %r32, -1; "
        "mbarrier.arrive.expect_tx.shared.b64 _, [b], {}; "
        "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], "
        "[%rd1, {{{}}}], [b];",
        bytes, rank, coordinates);
  }

  std::vector<uint32_t> tensor_;
};

TEST_F(Tensors, LoadsOfOneToThreeDimensions) {
  const Outcome one = Run(Load(1, "%r30", 256) + kWait + kOut, Map(1, {64, 1, 1, 1, 1}), 64);
  EXPECT_TRUE(one.outcome.clean()) << Findings(one);
  EXPECT_EQ(one.out[0], 60u);
  EXPECT_EQ(one.out[63], 123u);
  // Columns 60 .. 67 of rows 5 .. 12: the second half is outside.
  const Outcome two = Run(Load(2, "%r30, %r31", 256) + kWait + kOut, Map(2, {8, 8, 1, 1, 1}), 64);
  EXPECT_TRUE(two.outcome.clean()) << Findings(two);
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(two.out[i], i % 8 < 4 ? (5 + i / 8) * 64 + 60 + i % 8 : 0u) << i;
  }
  EXPECT_EQ(two.outcome.counters.global_load.sectors, 8u);
  // Plane -1 is outside.
  const Outcome three = Run("mov.u32 %r33, 4;" + Load(3, "%r33, %r31, %r32", 128) + kWait + kOut,
                            Map(3, {4, 4, 2, 1, 1}), 32);
  EXPECT_TRUE(three.outcome.clean()) << Findings(three);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(three.out[i], i < 16 ? 0u : (5 + i / 4 % 4) * 16 + 4 + i % 4) << i;
  }
}

TEST_F(Tensors, SwizzledStoresUndoSwizzledLoads) {
  TensorMap map = Map(2, {32, 8, 1, 1, 1});
  map.swizzle = TensorSwizzle::k128;
  // Load at (0, 8), store at (32, 16).
  const Outcome run =
      Run("mov.u32 %r33, 0; mov.u32 %r34, 8; mov.u32 %r35, 32; mov.u32 %r36, 16;" +
              Load(2, "%r33, %r34", 1024) + kWait + kOut +
              "@!%p1 bra END; cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, "
              "{%r35, %r36}], [s]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:",
          map, 256);
  EXPECT_TRUE(run.outcome.clean()) << Findings(run);
  for (uint32_t row = 0; row < 8; ++row) {
    for (uint32_t column = 0; column < 32; ++column) {
      EXPECT_EQ(tensor_[(16 + row) * 64 + 32 + column], (8 + row) * 64 + column);
      const uint32_t chunk = (column / 4) ^ row;
      EXPECT_EQ(run.out[row * 32 + chunk * 4 + column % 4], (8 + row) * 64 + column);
    }
  }
}

TEST_F(Tensors, StoresLeaveOutWhatLiesOutside) {
  const Outcome run =
      Run(std::string(kFill) +
              "fence.proxy.async; bar.sync 0; mov.u32 %r33, 60; mov.u32 %r34, 62; "
              "@!%p1 bra END; cp.reduce.async.bulk.tensor.2d.global.shared::cta.add."
              "tile.bulk_group [%rd1, {%r33, %r34}], [s]; "
              "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:",
          Map(2, {8, 4, 1, 1, 1}), 32);
  EXPECT_TRUE(run.outcome.clean()) << Findings(run);
  EXPECT_EQ(tensor_[62 * 64 + 60], 62u * 64 + 60 + 50);
  EXPECT_EQ(tensor_[63 * 64 + 63], 63u * 64 + 63 + 50 + 8 + 3);
  EXPECT_EQ(tensor_[63 * 64], 63u * 64);  // the row does not run on into the next
}

TEST_F(Tensors, StoresOfACutOffRowWriteWhole16Bytes) {
  TensorMap map = Map(2, {8, 4, 1, 1, 1});
  map.dimensions[0] = 61;
  const Outcome run = Run(std::string(kFill) +
                              "fence.proxy.async; bar.sync 0; mov.u32 %r33, 56; mov.u32 %r34, 2; "
                              "@!%p1 bra END; cp.async.bulk.tensor.2d.global.shared::cta."
                              "tile.bulk_group [%rd1, {%r33, %r34}], [s]; "
                              "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:",
                          map, 32);
  EXPECT_TRUE(run.outcome.clean()) << Findings(run);
  EXPECT_EQ(tensor_[2 * 64 + 60], 50u + 4);
  EXPECT_EQ(tensor_[2 * 64 + 63], 50u + 7);
  map.dimensions[0] = 60;
  Run(std::string(kFill) +
          "fence.proxy.async; bar.sync 0; mov.u32 %r33, 56; mov.u32 %r34, 2; @!%p1 "
          "bra END; cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
          "[%rd1, {%r33, %r34}], [s]; cp.async.bulk.commit_group; "
          "cp.async.bulk.wait_group 0; END:",
      map, 32);
  EXPECT_EQ(tensor_[2 * 64 + 59], 50u + 3);
  EXPECT_EQ(tensor_[2 * 64 + 60], 2u * 64 + 60);
}

TEST_F(Tensors, MisuseIsFound) {
  const auto first = [&](const std::string& body, const TensorMap& map) {
    const Outcome run = Run(body, map, 32);
    EXPECT_EQ(run.outcome.status, LaunchStatus::kFault) << body << Findings(run);
    return First(run);
  };
  EXPECT_THAT(first(Load(2, "%r30, %r31", 64) + "WAIT:", Map(3, {4, 4, 1, 1, 1})).detail,
              HasSubstr("a copy of rank 2 with a map of rank 3"));
  EXPECT_THAT(
      first("add.s64 %rd1, %rd2, 0;" + Load(2, "%r30, %r31", 64) + "WAIT:", Map(2, {4, 4, 1, 1, 1}))
          .detail,
      HasSubstr("none that cuTensorMapEncodeTiled made"));
  std::string body = Load(2, "%r30, %r31", 64) + "WAIT:";
  body.replace(body.find("[s]"), 3, "[s+64]");
  EXPECT_THAT(first(body, Map(2, {4, 4, 1, 1, 1})).detail, HasSubstr("not a multiple of 128"));
  // The map says more rows than the tensor has.
  TensorMap map = Map(2, {4, 4, 1, 1, 1});
  map.dimensions[1] = 1000;
  EXPECT_THAT(first("mov.u32 %r40, 62;" + Load(2, "%r30, %r40", 64) + "WAIT:", map).detail,
              HasSubstr("bulk copy from"));
  // What an H200 answers with an illegal instruction.
  map = Map(2, {4, 4, 1, 1, 1});
  EXPECT_THAT(first(Load(2, "%r31, %r30", 64) + "WAIT:", map).detail,
              HasSubstr("coordinate 5 of its innermost dimension, 20 bytes from"));
  EXPECT_THAT(first(std::string(kFill) +
                        "fence.proxy.async; bar.sync 0; mov.u32 %r33, 60; mov.u32 %r34, -2; @!%p1 "
                        "bra END; cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                        "[%rd1, {%r33, %r34}], [s]; END:",
                    map)
                  .detail,
              HasSubstr("begins at coordinate -2 of dimension 1"));
}

TEST_F(Tensors, NanFillsWhatLiesOutside) {
  TensorMap map = Map(2, {4, 1, 1, 1, 1});
  map.type = TensorType::kF32;
  map.fill_nan = true;
  const Outcome run = Run("mov.u32 %r33, 64;" + Load(2, "%r33, %r31", 16) + kWait + kOut, map, 4);
  EXPECT_TRUE(run.outcome.clean()) << Findings(run);
  EXPECT_EQ(run.out[0], 0x7ff77ff7u);
}

}  // namespace
}  // namespace optiml::ptx
