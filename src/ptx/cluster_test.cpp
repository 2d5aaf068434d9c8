// Clusters: their barrier, distributed shared memory, copies between blocks; cooperative launches.

#include <gmock/gmock.h>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr Checks kAll{true, true, false, true};
constexpr char kShared[] = ".shared .align 256 .b8 s[1024];\n.shared .align 8 .b8 b[16];\n";
constexpr char kPrologue[] =
    "ld.param.u64 %rd1, [p0]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; "
    "mad.lo.s32 %r1, %r2, %r3, %r4; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; mov.u32 "
    "%r20, s; shl.b32 %r21, %r4, 2; add.u32 %r20, %r20, %r21; setp.eq.u32 %p1, %r4, 0; mov.u32 "
    "%r5, "
    "%cluster_ctarank; mov.u32 %r6, %cluster_nctarank;\n.loc 1 5 1\n";
constexpr char kSync[] = "barrier.cluster.arrive; barrier.cluster.wait;";

struct Shape {
  Dim3 grid{4};
  Dim3 block{64};
  Dim3 cluster{4};
  Checks checks = kAll;
  bool cooperative = false;
  uint64_t resident_blocks = 0;
  int threads = 1;
  std::vector<uint64_t> order = {};  // of the blocks; empty: by number
};

WordRun Execute(const std::string& body, const Shape& setup = {}) {
  const Module module = MustParse(KernelText(kPrologue + body, 1, kShared));
  DeviceMemory memory;
  const size_t words = static_cast<size_t>(setup.grid.Count() * setup.block.Count());
  const uint64_t at = Upload(memory, "words", std::vector<uint32_t>(words, 0));
  LaunchRequest request = Request(module, "k", setup.grid, setup.block, {Argument(at)});
  request.cluster = setup.cluster;
  request.checks = setup.checks;
  request.cooperative = setup.cooperative;
  request.limits.resident_blocks = setup.resident_blocks;
  request.block_sample = setup.order;
  request.counters = true;
  request.threads = setup.threads;
  request.step_limit = uint64_t{1} << 26;
  WordRun run;
  run.outcome = Launch(request, memory);
  run.words = Download<uint32_t>(memory, at);
  return run;
}

std::string Findings(const LaunchOutcome& outcome) {
  std::string text = outcome.message;
  for (const Finding& finding : outcome.findings) {
    text += "\n" + finding.kind + ": " + finding.detail;
  }
  return text;
}

Finding First(const WordRun& run) {
  EXPECT_FALSE(run.outcome.findings.empty()) << LaunchStatusName(run.outcome.status);
  return run.outcome.findings.empty() ? Finding() : run.outcome.findings.front();
}

TEST(Cluster, SpecialRegistersSayWhereTheBlockIs) {
  // Grid 4 x 6, clusters of 2 x 3: rank, place and number of the cluster in one word.
  const WordRun run = Execute(
      "mov.u32 %r7, %ctaid.y; mov.u32 %r8, %nctaid.x; mad.lo.u32 %r9, %r7, %r8, %r2; mul.wide.u32 "
      "%rd2, %r9, 4; add.s64 %rd2, %rd1, %rd2; mov.u32 %r10, %cluster_ctaid.x; mov.u32 %r11, "
      "%cluster_ctaid.y; mov.u32 %r12, %clusterid.x; mov.u32 %r13, %clusterid.y; mov.u32 %r14, "
      "%nclusterid.x; mov.u32 %r15, %nclusterid.y; mov.u32 %r16, %cluster_nctaid.y; mul.lo.u32 "
      "%r17, "
      "%r6, 10; add.u32 %r17, %r17, %r5; mul.lo.u32 %r17, %r17, 10; add.u32 %r17, %r17, %r10; "
      "mul.lo.u32 %r17, %r17, 10; add.u32 %r17, %r17, %r11; mul.lo.u32 %r17, %r17, 10; add.u32 "
      "%r17, "
      "%r17, %r12; mul.lo.u32 %r17, %r17, 10; add.u32 %r17, %r17, %r13; mul.lo.u32 %r17, %r17, 10; "
      "add.u32 %r17, %r17, %r14; mul.lo.u32 %r17, %r17, 10; add.u32 %r17, %r17, %r15; mul.lo.u32 "
      "%r17, %r17, 10; add.u32 %r17, %r17, %r16; st.global.u32 [%rd2], %r17;",
      {{4, 6}, {1}, {2, 3}});
  ASSERT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  for (uint32_t y = 0; y < 6; ++y) {
    for (uint32_t x = 0; x < 4; ++x) {
      const uint32_t digits[] = {x % 2 + 2 * (y % 3), x % 2, y % 3, x / 2, y / 3, 2, 2, 3};
      uint32_t expected = 6;
      for (const uint32_t digit : digits) {
        expected = expected * 10 + digit;
      }
      EXPECT_EQ(run.words[y * 4 + x], expected) << x << " " << y;
    }
  }
}

// Reads the next block's value: loads with the generic and the shared form, and by symbol.
std::string ReadNext(const std::string& form) {
  return "add.u32 %r22, %r5, 1; rem.u32 %r22, %r22, %r6;" + form + "st.global.u32 [%rd2], %r9;";
}
constexpr char kGeneric[] =
    "cvt.u64.u32 %rd5, %r20; cvta.shared.u64 %rd5, %rd5; mapa.u64 %rd6, %rd5, %r22; ld.u32 %r9, "
    "[%rd6];";
constexpr char kWindow[] =
    "mapa.shared::cluster.u32 %r23, %r20, %r22; ld.shared::cluster.u32 %r9, [%r23];";
constexpr char kSymbol[] =
    "mapa.shared::cluster.u32 %r23, s, %r22; add.u32 %r23, %r23, %r21; ld.shared::cluster.u32 %r9, "
    "[%r23];";

TEST(Cluster, BlocksReadEachOthersSharedMemory) {
  for (const char* form : {kGeneric, kWindow, kSymbol}) {
    const WordRun run =
        Execute("st.shared.u32 [%r20], %r1;" + std::string(kSync) + ReadNext(form) + kSync,
                {{8}, {64}, {4}});
    ASSERT_TRUE(run.outcome.clean()) << form << Findings(run.outcome);
    for (uint32_t i = 0; i < 512; ++i) {
      const uint32_t block = i / 64;
      EXPECT_EQ(run.words[i], (block / 4 * 4 + (block + 1) % 4) * 64 + i % 64) << form << i;
    }
    EXPECT_EQ(run.outcome.counters.cluster_load.requests, 16u);
    EXPECT_EQ(run.outcome.counters.cluster_load.lane_bytes, 2048u);
  }
}

TEST(Cluster, BlocksWriteAndAddAcross) {
  const WordRun run =
      Execute("st.shared.u32 [%r20], 0;" + std::string(kSync) +
              "mapa.shared::cluster.u32 %r23, %r20, 0; atom.shared::cluster.add.u32 %r24, [%r23], "
              "1; cvt.u64.u32 "
              "%rd5, %r20; cvta.shared.u64 %rd5, %rd5; mov.u32 %r25, 0; mapa.u64 %rd6, %rd5, %r25; "
              "atom.add.u32 %r24, [%rd6], 10;" +
              kSync + "ld.shared.u32 %r9, [%r20]; st.global.u32 [%rd2], %r9;");
  ASSERT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  for (uint32_t i = 0; i < 256; ++i) {
    EXPECT_EQ(run.words[i], i < 64 ? 44u : 0u);
  }
  const WordRun store =
      Execute("add.u32 %r22, %r5, 1; rem.u32 %r22, %r22, %r6; " + std::string(kSync) +
              "mapa.shared::cluster.u32 %r23, %r20, %r22; st.shared::cluster.u32 [%r23], "
              "%r5;" +
              kSync + "ld.shared.u32 %r9, [%r20]; st.global.u32 [%rd2], %r9;");
  ASSERT_TRUE(store.outcome.clean()) << Findings(store.outcome);
  EXPECT_EQ(store.words[0], 3u);
  EXPECT_EQ(store.words[64], 0u);
}

TEST(Cluster, MissingBarriersAreRaces) {
  const std::string write = "st.shared.u32 [%r20], %r1;";
  // Nobody knows that the other block has started, nor that it has written.
  EXPECT_THAT(First(Execute(write + ReadNext(kWindow) + kSync)).detail,
              HasSubstr("which may not have started"));
  const WordRun run = Execute(kSync + write + ReadNext(kWindow) + kSync);
  EXPECT_THAT(Findings(run.outcome),
              HasSubstr("of block (3,0,0): not ordered with a store by its thread"));
  // A barrier of the block orders the block alone.
  EXPECT_THAT(Findings(Execute(kSync + write + "bar.sync 0;" + ReadNext(kGeneric) + kSync).outcome),
              HasSubstr("race: "));
  // Overwriting what another block has read.
  const WordRun late =
      Execute(kSync + write + kSync + ReadNext(kWindow) + "st.shared.u32 [%r20], 5;" + kSync);
  EXPECT_EQ(First(late).kind, "race");
  EXPECT_THAT(First(late).detail, HasSubstr("of the cluster"));
}

TEST(Cluster, SharedMemoryOfABlockThatHasExitedIsGone) {
  const WordRun run =
      Execute("st.shared.u32 [%r20], %r1;" + std::string(kSync) +
              "setp.eq.u32 %p3, %r5, 1; @%p3 ret; mov.u32 %r22, 0; W: add.u32 %r22, %r22, "
              "1; nanosleep.u32 100; setp.lt.u32 %p4, %r22, 100; @%p4 bra W;" +
              ReadNext(kWindow));
  EXPECT_EQ(run.outcome.status, LaunchStatus::kFault);
  EXPECT_THAT(First(run).detail, HasSubstr("shared memory of block (1,0,0), which has exited"));
}

TEST(Cluster, AddressesOutsideAreFaults) {
  EXPECT_THAT(First(Execute(kSync + std::string("mapa.shared::cluster.u32 %r23, %r20, 4;"))).detail,
              HasSubstr("mapa to block 4 of a cluster of 4"));
  EXPECT_THAT(First(Execute(kSync +
                            std::string("mapa.shared::cluster.u32 %r23, %r20, 1; "
                                        "ld.shared::cluster.u32 %r9, [%r23+1024];") +
                            kSync))
                  .detail,
              HasSubstr("past the end of s"));
}

TEST(Cluster, ArriveAndWaitMayStandApart) {
  const WordRun run = Execute(
      "st.shared.u32 [%r20], %r1; barrier.cluster.arrive.release.aligned; mov.u32 "
      "%r30, 3; barrier.cluster.wait.acquire.aligned;" +
      ReadNext(kWindow) + kSync);
  EXPECT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  EXPECT_THAT(First(Execute("barrier.cluster.wait;")).detail,
              HasSubstr("without barrier.cluster.arrive"));
  EXPECT_THAT(First(Execute("barrier.cluster.arrive; barrier.cluster.arrive;")).detail,
              HasSubstr("again without barrier.cluster.wait"));
}

TEST(Cluster, ExitedThreadsAreNotWaitedForAndOthersAre) {
  const WordRun gone = Execute("setp.eq.u32 %p3, %r5, 2; @%p3 ret;" + std::string(kSync) +
                               "st.global.u32 [%rd2], 1;");
  EXPECT_TRUE(gone.outcome.clean()) << Findings(gone.outcome);
  EXPECT_EQ(gone.words[0], 1u);
  const WordRun stuck =
      Execute("setp.eq.u32 %p3, %r5, 2; @%p3 bra ELSE;\n.loc 1 7 1\n" + std::string(kSync) +
              "bra END;\n.loc 1 8 1\nELSE: bar.sync 1, 128; END:");
  EXPECT_EQ(stuck.outcome.status, LaunchStatus::kDeadlock);
  EXPECT_THAT(stuck.outcome.message,
              AllOf(HasSubstr("line 7 (6 warps)"), HasSubstr("line 8 (2 warps)")));
}

TEST(Cluster, MbarriersOfOtherBlocksTakeArrivals) {
  // Every block tells block 0 that its values are there; block 0 sums them.
  const std::string body =
      "@%p1 mbarrier.init.shared.b64 [b], 4; fence.mbarrier_init.release.cluster; st.shared.u32 "
      "[%r20], %r5;" +
      std::string(kSync) +
      "bar.sync 0; mapa.shared::cluster.u32 %r23, b, 0; st.shared.u32 [%r20], %r1; bar.sync 0; "
      "@%p1 "
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23]; setp.ne.u32 %p3, %r5, 0; "
      "@%p3 "
      "bra END; W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b], 0; @!%p2 bra "
      "W; "
      "mov.u32 %r9, 0; mov.u32 %r24, 0; SUM: mapa.shared::cluster.u32 %r25, %r20, %r24; "
      "ld.shared::cluster.u32 %r26, [%r25]; add.u32 %r9, %r9, %r26; add.u32 %r24, %r24, 1; "
      "setp.lt.u32 "
      "%p4, %r24, 4; @%p4 bra SUM; st.global.u32 [%rd2], %r9; END:" +
      kSync;
  const WordRun run = Execute(body);
  ASSERT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  EXPECT_EQ(run.words[5], 5u * 4 + 64 * 6);
  // The arrival before the store does not release it.
  std::string racy = body;
  const std::string arrive = "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];";
  racy.replace(racy.find(arrive), arrive.size(), "");
  racy.replace(racy.find("st.shared.u32 [%r20], %r1;"), 0, arrive);
  EXPECT_EQ(First(Execute(racy)).kind, "race");
}

TEST(Cluster, CopiesGoBetweenBlocks) {
  // Each block sends 256 bytes to the next one's upper half and waits for its own.
  const WordRun run = Execute(
      "@%p1 mbarrier.init.shared.b64 [b], 1; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [b], "
      "256; "
      "st.shared.u32 [%r20], %r1; fence.proxy.async;" +
      std::string(kSync) +
      "add.u32 %r22, %r5, 1; rem.u32 %r22, %r22, %r6; mapa.shared::cluster.u32 %r23, s, %r22; "
      "add.u32 "
      "%r23, %r23, 512; mapa.shared::cluster.u32 %r24, b, %r22; @!%p1 bra W; "
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r23], [s], 256, "
      "[%r24]; W: mbarrier.try_wait.parity.shared.b64 %p2, [b], 0; @!%p2 bra W; ld.shared.u32 %r9, "
      "[%r20+512]; st.global.u32 [%rd2], %r9;" +
      kSync);
  ASSERT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  EXPECT_EQ(run.words[0], 192u);
  EXPECT_EQ(run.words[64 + 3], 3u);
}

TEST(Cluster, ValuesAreSentAsynchronously) {
  const WordRun run = Execute(
      "@%p1 mbarrier.init.shared.b64 [b], 1; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [b], "
      "768; "
      "st.shared.u32 [%r20+512], 100;" +
      std::string(kSync) +
      "add.u32 %r22, %r5, 1; rem.u32 %r22, %r22, %r6; shl.b32 %r30, %r4, 3; "
      "mapa.shared::cluster.u32 %r23, "
      "s, %r22; add.u32 %r24, %r23, %r30; mapa.shared::cluster.u32 %r25, b, %r22; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r24], {%r1, %r4}, "
      "[%r25]; "
      "add.u32 %r26, %r23, %r21; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::"
      "bytes.add.u32 [%r26+512], %r4, [%r25]; W: mbarrier.try_wait.parity.shared.b64 %p2, [b], 0; "
      "@!%p2 "
      "bra W; ld.shared.u32 %r9, [s+80]; ld.shared.u32 %r10, [%r20+512]; add.u32 %r9, %r9, %r10; "
      "st.global.u32 [%rd2], %r9;" +
      kSync);
  ASSERT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  EXPECT_EQ(run.words[3], 202u + 103);  // s[20] of block 0: the 10th value of block 3
}

TEST(Cluster, AsynchronousReductionsMayMeetAndStoresMayNot) {
  const auto send = [](const std::string& operation) {
    return Execute(
        "@%p1 mbarrier.init.shared.b64 [b], 1; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [b], "
        "256; "
        "st.shared.u32 [%r20], 100;" +
        std::string(kSync) +
        "add.u32 %r22, %r5, 1; rem.u32 %r22, %r22, %r6; mapa.shared::cluster.u32 %r23, s, %r22; "
        "mapa.shared::cluster.u32 %r25, b, %r22; " +
        operation +
        " [%r23], %r4, [%r25]; W: mbarrier.try_wait.parity.shared.b64 %p2, [b], 0; @!%p2 bra W; "
        "ld.shared.u32 %r9, [s]; st.global.u32 [%rd2], %r9;" +
        kSync);
  };
  const WordRun sums =
      send("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32");
  ASSERT_TRUE(sums.outcome.clean()) << Findings(sums.outcome);
  EXPECT_EQ(sums.words[0], 100u + 63 * 64 / 2);
  EXPECT_THAT(First(send("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32")).kind,
              "race");
}

TEST(Cluster, MulticastCopiesReachAllBlocks) {
  // Block 0 loads 64 words into blocks 0, 1 and 3; each waits on its own barrier.
  const WordRun run = Execute(
      "st.global.u32 [%rd2], %r1; @%p1 mbarrier.init.shared.b64 [b], 1; @%p1 "
      "mbarrier.arrive.expect_tx.shared.b64 _, [b], 256;" +
      std::string(kSync) +
      "setp.eq.u32 %p3, %r1, 0; cvt.u16.u32 %h1, 11; @!%p3 bra NEXT; "
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], "
      "[%rd1], "
      "256, [b], %h1; NEXT: setp.eq.u32 %p4, %r5, 2; @%p4 bra END; W: "
      "mbarrier.try_wait.parity.shared.b64 %p2, [b], 0; @!%p2 bra W; ld.shared.u32 %r9, [%r20]; "
      "add.u32 "
      "%r9, %r9, 1000; st.global.u32 [%rd2+0], %r9; END:" +
      kSync);
  ASSERT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  EXPECT_EQ(run.words[64 + 5] - 1000, run.words[3 * 64 + 5] - 1000);
  EXPECT_EQ(run.words[128 + 5], 133u);
  // To a block that is not there.
  EXPECT_THAT(
      First(Execute("@%p1 mbarrier.init.shared.b64 [b], 1;" + std::string(kSync) +
                    "cvt.u16.u32 %h1, 16; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::"
                    "complete_tx::bytes.multicast::cluster [s], [%rd1], 256, [b], %h1;"))
          .detail,
      HasSubstr("blocks 0x10 of a cluster of 4"));
}

TEST(Cluster, InvalidShapesAreRefused) {
  const auto message = [](const Shape& setup) {
    const WordRun run = Execute("", setup);
    EXPECT_EQ(run.outcome.status, LaunchStatus::kRefused);
    return run.outcome.message;
  };
  EXPECT_THAT(message({{6}, {32}, {4}}),
              HasSubstr("grid (6,1,1) is no multiple of cluster (4,1,1)"));
  EXPECT_THAT(message({{16}, {32}, {16}}), HasSubstr("cluster (16,1,1) is outside 1 .. 8 blocks"));
  const std::string text =
      ".visible .entry k(.param .u64 p0)\n.explicitcluster\n.reqnctapercluster 2, 1, "
      "1\n.maxclusterrank 4\n{\n.reg .b64 %rd1; .reg .b64 %rd2; .reg .b32 %r1;\n"
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4; "
      "add.s64 %rd1, %rd1, %rd2; mov.u32 %r1, %cluster_nctarank; st.global.u32 "
      "[%rd1], %r1;\nret;\n}\n";
  const Module module = MustParse(Header() + text);
  DeviceMemory memory;
  const uint64_t at = Upload(memory, "words", std::vector<uint32_t>(4, 0));
  LaunchRequest request = Request(module, "k", {4}, {1}, {Argument(at)});
  EXPECT_TRUE(Launch(request, memory).clean());
  EXPECT_EQ(Download<uint32_t>(memory, at), std::vector<uint32_t>(4, 2));
  request.cluster = {4};
  EXPECT_THAT(Launch(request, memory).message, HasSubstr("is not the required (2,1,1)"));
}

TEST(Cluster, SamplesAreWholeClusters) {
  const Module module = MustParse(
      KernelText(std::string(kPrologue) + kSync + "st.global.u32 [%rd2], 1;", 1, kShared));
  DeviceMemory memory;
  const uint64_t at = Upload(memory, "words", std::vector<uint32_t>(16, 0));
  LaunchRequest request = Request(module, "k", {16}, {1}, {Argument(at)});
  request.cluster = {4};
  request.block_sample = {6, 4, 15};
  const LaunchOutcome outcome = Launch(request, memory);
  ASSERT_TRUE(outcome.clean()) << Findings(outcome);
  EXPECT_EQ(outcome.counters.blocks_run, 8u);
  EXPECT_EQ(Download<uint32_t>(memory, at),
            (std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(Cluster, WorkersShareClusters) {
  const WordRun run =
      Execute("st.shared.u32 [%r20], %r1;" + std::string(kSync) + ReadNext(kGeneric) + kSync,
              {{64}, {64}, {4}, {}, false, 0, 2});
  ASSERT_TRUE(run.outcome.clean()) << Findings(run.outcome);
  for (uint32_t i = 0; i < 64 * 64; ++i) {
    const uint32_t block = i / 64;
    ASSERT_EQ(run.words[i], (block / 4 * 4 + (block + 1) % 4) * 64 + i % 64);
  }
}

// As NVRTC compiles cooperative_groups::this_grid().sync().
constexpr char kGridSync[] = R"(
    mov.u32 %r40, %envreg2; cvt.u64.u32 %rd12, %r40; mov.u32 %r41, %envreg1; cvt.u64.u32 %rd13, %r41;
    bfi.b64 %rd14, %rd13, %rd12, 32, 32; setp.ne.s64 %p10, %rd14, 0; @%p10 bra GO; trap;
    GO: barrier.sync 0; setp.ne.u32 %p11, %r4, 0; @%p11 bra DONE;
    add.s64 %rd15, %rd14, 4; mov.u32 %r42, %nctaid.x; mov.u32 %r43, -2147483647; sub.s32 %r44, %r43, %r42;
    setp.eq.u32 %p12, %r2, 0; selp.b32 %r45, %r44, 1, %p12; atom.add.release.gpu.u32 %r46, [%rd15], %r45;
    SPIN: ld.acquire.gpu.u32 %r47, [%rd15]; xor.b32 %r48, %r47, %r46; setp.gt.s32 %p13, %r48, -1; @%p13 bra SPIN;
    DONE: barrier.sync 0;)";

TEST(Cooperative, GridsSynchronise) {
  const std::string body =
      "st.global.u32 [%rd2], %r1;" + std::string(kGridSync) +
      "mov.u32 %r50, %nctaid.x; mul.lo.u32 %r51, %r50, %r3; add.u32 %r52, %r1, %r3; rem.u32 "
      "%r52, %r52, %r51; mul.wide.u32 %rd20, %r52, 4; add.s64 %rd20, %rd1, %rd20; "
      "ld.global.u32 %r9, [%rd20]; bar.sync 0;";
  Shape setup{{100}, {64}, {1}};
  setup.cooperative = true;
  std::string twice = kGridSync;
  for (const char* label : {"GO", "DONE", "SPIN"}) {
    for (size_t at = twice.find(label); at != std::string::npos; at = twice.find(label, at + 5)) {
      twice.insert(at + std::string(label).size(), "2");
    }
  }
  for (const bool backwards : {false, true}) {
    for (uint64_t block = 100; backwards && block > 0; --block) {
      setup.order.push_back(block - 1);
    }
    const WordRun run = Execute(body + twice + "st.global.u32 [%rd2], %r9;", setup);
    ASSERT_TRUE(run.outcome.clean()) << Findings(run.outcome);
    for (uint32_t i = 0; i < 6400; ++i) {
      ASSERT_EQ(run.words[i], (i + 64) % 6400);
    }
  }
  setup.order = {0, 1};
  EXPECT_THAT(Execute("", setup).outcome.message,
              HasSubstr("cooperative launch cannot be sampled"));
}

TEST(Cooperative, OtherLaunchesTrapWithTheReason) {
  const WordRun run = Execute(kGridSync, {{4}, {64}, {1}});
  EXPECT_EQ(run.outcome.status, LaunchStatus::kFault);
  EXPECT_THAT(First(run).detail,
              HasSubstr("it synchronises its grid, which needs a cooperative launch "
                        "(cudaLaunchCooperativeKernel)"));
}

TEST(Cooperative, GridsThatDoNotFitAreRefused) {
  Shape setup{{100}, {64}, {1}};
  setup.cooperative = true;
  setup.resident_blocks = 99;
  const WordRun run = Execute("", setup);
  EXPECT_EQ(run.outcome.status, LaunchStatus::kRefused);
  EXPECT_THAT(run.outcome.message,
              HasSubstr("a cooperative launch of 100 blocks, where 99 fit on the device at once"));
}

}  // namespace
}  // namespace optiml::ptx
