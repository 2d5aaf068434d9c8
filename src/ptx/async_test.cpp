// cp.async: data arrive at the wait that covers them, and not before.

#include <gmock/gmock.h>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr Checks kAll{true, true, false, true};
constexpr char kShared[] = ".shared .align 256 .b8 s[2048];\n.shared .align 16 .b8 t[64];\n";

// words: the first half is read, the second written. %rd2 = &words[%r1], %rd3 = &words[half + %r1],
// %r20 = &s[4 * %r4]; p1: the first thread.
std::string Places(int half) {
  return fmt::format(
      "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; add.s64 %rd3, %rd2, {}; mov.u32 %r20, "
      "s; shl.b32 %r21, %r4, 2; add.u32 %r20, %r20, %r21; setp.eq.u32 %p1, %r4, 0;\n.loc 1 5 1\n",
      4 * half);
}

struct Outcome {
  LaunchOutcome outcome;
  std::vector<uint32_t> written;
};

// words[i] = 100 + i for the first half.
Outcome Execute(const std::string& body, Dim3 block = {64}, Checks checks = kAll) {
  const int half = static_cast<int>(std::max<uint64_t>(block.Count(), 128));
  const std::string prologue =
      "ld.param.u64 %rd1, [p0];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, "
      "%tid.x;\nmad.lo.s32 %r1, %r2, %r3, %r4;\n";
  const Module module = MustParse(KernelText(prologue + Places(half) + body, 1, kShared));
  DeviceMemory memory;
  std::vector<uint32_t> words(static_cast<size_t>(2 * half), 0);
  for (int i = 0; i < half; ++i) {
    words[static_cast<size_t>(i)] = static_cast<uint32_t>(100 + i);
  }
  const uint64_t address = Upload(memory, "words", words);
  LaunchRequest request = Request(module, "k", {1}, block, {Argument(address)});
  request.checks = checks;
  request.counters = true;
  request.step_limit = uint64_t{1} << 26;
  Outcome result;
  result.outcome = Launch(request, memory);
  words = Download<uint32_t>(memory, address);
  result.written.assign(words.begin() + half,
                        words.begin() + half + static_cast<int>(block.Count()));
  return result;
}

std::vector<uint32_t> Sequence(uint32_t begin, size_t count, uint32_t step = 1) {
  std::vector<uint32_t> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(begin + static_cast<uint32_t>(i) * step);
  }
  return values;
}

void ExpectClean(const Outcome& run) {
  EXPECT_TRUE(run.outcome.clean())
      << run.outcome.message
      << (run.outcome.findings.empty()
              ? ""
              : run.outcome.findings[0].kind + ": " + run.outcome.findings[0].detail);
}

bool Found(const Outcome& run, const std::string& kind, const std::string& text) {
  for (const Finding& finding : run.outcome.findings) {
    if (finding.kind == kind && finding.detail.find(text) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::string Findings(const Outcome& run) {
  std::string text = run.outcome.message;
  for (const Finding& finding : run.outcome.findings) {
    text += "\n" + finding.kind + ": " + finding.detail;
  }
  return text;
}

constexpr char kCopy[] = "cp.async.ca.shared.global [%r20], [%rd2], 4;";
constexpr char kReadBack[] = "ld.shared.u32 %r9, [%r20]; st.global.u32 [%rd3], %r9;";

TEST(CpAsync, BytesArriveAtTheWait) {
  for (const char* wait : {"cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"}) {
    const Outcome run = Execute(std::string(kCopy) + wait + kReadBack);
    ExpectClean(run);
    EXPECT_EQ(run.written, Sequence(100, 64)) << wait;
  }
}

TEST(CpAsync, WithoutAWaitOldBytesAreSeenAndItIsARace) {
  // Nothing waits; waits for too many groups; an uncommitted copy is in no group.
  for (const char* instead :
       {"", "bar.sync 0;", "cp.async.commit_group; bar.sync 0;",
        "cp.async.commit_group; cp.async.wait_group 1;", "cp.async.wait_group 0;"}) {
    const Outcome run =
        Execute("st.shared.u32 [%r20], 7; bar.sync 0;" + std::string(kCopy) + instead + kReadBack);
    EXPECT_EQ(run.outcome.status, LaunchStatus::kCompleted);
    EXPECT_EQ(run.written, std::vector<uint32_t>(64, 7)) << instead;
    EXPECT_TRUE(Found(run, "race",
                      "load of byte 0 of s in shared memory: the asynchronous copy of thread "
                      "(0,0,0) at line 5 that writes it has not been waited for"))
        << instead << Findings(run);
  }
}

TEST(CpAsync, BytesNeverWrittenBeforeAreUninitialisedUntilTheWait) {
  const Outcome run = Execute(std::string(kCopy) + kReadBack, {32}, {true, false, false, true});
  EXPECT_TRUE(Found(run, "uninitialised", "byte 0 of s"));
}

TEST(CpAsync, OnlyTheOwnThreadSeesThemAfterItsWait) {
  const std::string start = std::string(kCopy) + "cp.async.wait_all;";
  const std::string other = "xor.b32 %r20, %r20, 128;";
  ExpectClean(Execute(start + "bar.sync 0;" + other + kReadBack));
  const Outcome run = Execute(start + other + kReadBack);
  EXPECT_TRUE(Found(run, "race", "is not ordered with")) << Findings(run);
}

TEST(CpAsync, GroupsLandInOrder) {
  // Two groups into two halves of s; the first is covered by wait_group 1, the second is not.
  const std::string two =
      "add.s64 %rd4, %rd2, 256; cp.async.ca.shared.global [%r20], [%rd2], 4; "
      "cp.async.commit_group; cp.async.ca.shared.global [%r20+256], [%rd4], 4; "
      "cp.async.commit_group;";
  ExpectClean(Execute(two + "cp.async.wait_group 1;" + kReadBack));
  const std::string second = "add.u32 %r20, %r20, 256;";
  const Outcome early = Execute(two + "cp.async.wait_group 1;" + second + kReadBack);
  EXPECT_TRUE(Found(early, "race", "has not been waited for"));
  const Outcome run = Execute(two + "cp.async.wait_group 0;" + second + kReadBack);
  ExpectClean(run);
  EXPECT_EQ(run.written, Sequence(164, 64));
}

TEST(CpAsync, LanesHaveTheirOwnGroups) {
  // Odd lanes commit an empty group more: wait_group 1 covers their copy, not that of even lanes.
  const Outcome run = Execute(
      "and.b32 %r10, %r4, 1; setp.eq.u32 %p2, %r10, 1; st.shared.u32 [%r20], 7; bar.sync 0;" +
          std::string(kCopy) +
          "cp.async.commit_group; @!%p2 bra NEXT; cp.async.commit_group; NEXT: cp.async.wait_group "
          "1;" +
          kReadBack,
      {32}, {});
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(run.written[i], i % 2 == 1 ? 100 + i : 7) << i;
  }
}

TEST(CpAsync, SourceSizesFillWithZeros) {
  // Four words a lane; 0, 4, 8 or 12 of 16 bytes are read.
  const std::string copy =
      "shl.b32 %r21, %r4, 4; mov.u32 %r20, s; add.u32 %r20, %r20, %r21; and.b32 %r10, %r4, 3; "
      "shl.b32 %r10, %r10, 2; cp.async.cg.shared.global.L2::128B [%r20], [%rd1], 16, %r10; "
      "cp.async.wait_all; ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [%r20]; add.u32 %r11, %r11, "
      "%r12; add.u32 %r11, %r11, %r13; add.u32 %r11, %r11, %r14; st.global.u32 [%rd3], %r11;";
  const Outcome run = Execute(copy, {32});
  ExpectClean(run);
  const uint32_t sums[4] = {0, 100, 201, 303};
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(run.written[i], sums[i % 4]) << i;
  }
  // Nothing is read where the size is 0: the address may be anything.
  ExpectClean(Execute(
      "mov.u64 %rd5, 0; cp.async.ca.shared.global [%r20], [%rd5], 4, 0; cp.async.wait_all;"));
  ExpectClean(
      Execute("mov.u64 %rd5, 0; setp.eq.u32 %p3, %r4, %r4; cp.async.ca.shared.global "
              "[%r20], [%rd5], 4, %p3; cp.async.wait_all;"));
}

TEST(CpAsync, BoundsAndAlignmentAreCheckedAtTheIssue) {
  const auto first = [](const std::string& body) {
    const Outcome run = Execute(body);
    EXPECT_EQ(run.outcome.status, LaunchStatus::kFault) << body;
    return run.outcome.findings.empty() ? Finding() : run.outcome.findings[0];
  };
  EXPECT_THAT(first("cp.async.ca.shared.global [%r20+2048], [%rd2], 4;").detail,
              HasSubstr("past the end of s (2048 bytes)"));
  const Finding far = first("cp.async.ca.shared.global [%r20], [%rd2+65536], 4;");
  EXPECT_EQ(far.kind, "out of bounds");
  EXPECT_THAT(far.detail,
              AllOf(HasSubstr("cp.async of 4 bytes from words["), HasSubstr("thread (0,0,0)")));
  EXPECT_EQ(first("cp.async.ca.shared.global [%r20+2], [%rd2], 4;").kind, "misaligned");
  EXPECT_EQ(first("cp.async.ca.shared.global [%r20], [%rd2], 8;").kind, "misaligned");
  // Only what is read counts: 4 of 16 bytes at the end.
  ExpectClean(
      Execute("add.s64 %rd5, %rd1, 1008; cp.async.cg.shared.global [s], [%rd5], 16, 16;", {1}));
  EXPECT_THAT(first("cp.async.ca.shared.global [%r20], [%rd2], 4, 8;").detail,
              HasSubstr("reads 8 bytes to write 4"));
}

TEST(CpAsync, OverwritingBytesThatOthersReadIsARace) {
  const std::string start =
      "st.shared.u32 [%r20], %r4; bar.sync 0; xor.b32 %r22, %r20, 128; "
      "ld.shared.u32 %r9, [%r22];";
  ExpectClean(Execute(start + "bar.sync 0;" + kCopy + "cp.async.wait_all;"));
  const Outcome run = Execute(start + kCopy + "cp.async.wait_all;");
  EXPECT_TRUE(Found(run, "race", "store of byte")) << Findings(run);
  // Writing to where a copy will write.
  EXPECT_TRUE(Found(Execute(std::string(kCopy) + "st.shared.u32 [%r20], 1; cp.async.wait_all;"),
                    "race", "store of byte 0 of s in shared memory: the asynchronous copy"));
}

TEST(CpAsync, PipelinesAreCountedAndClean) {
  // Three stages over 8 tiles of 64 words.
  const std::string body = R"(
    mov.u32 %r30, 0; mov.u32 %r31, 0; mov.u32 %r9, 0;
    mov.u32 %r33, 0;
    FILL: mul.lo.u32 %r32, %r33, 256; add.u32 %r34, %r20, %r32; cp.async.ca.shared.global [%r34], [%rd2], 4;
    cp.async.commit_group; add.u32 %r33, %r33, 1; setp.lt.u32 %p2, %r33, 2; @%p2 bra FILL;
    LOOP: cp.async.wait_group 1; bar.sync 0;
    rem.u32 %r35, %r30, 3; mul.lo.u32 %r35, %r35, 256; add.u32 %r36, %r20, %r35; xor.b32 %r36, %r36, 128;
    ld.shared.u32 %r37, [%r36]; add.u32 %r9, %r9, %r37;
    add.u32 %r38, %r30, 2; rem.u32 %r39, %r38, 3; mul.lo.u32 %r39, %r39, 256; add.u32 %r40, %r20, %r39;
    setp.lt.u32 %p3, %r38, 8; @%p3 cp.async.ca.shared.global [%r40], [%rd2], 4;
    cp.async.commit_group;
    add.u32 %r30, %r30, 1; setp.lt.u32 %p2, %r30, 8; @%p2 bra LOOP;
    st.global.u32 [%rd3], %r9;)";
  const Outcome run = Execute(body);
  ExpectClean(run);
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(run.written[i], 8 * (100 + (i ^ 32)));
  }
  EXPECT_EQ(run.outcome.counters.async_copy.requests, 16u);
  EXPECT_EQ(run.outcome.counters.async_copy.bytes, 8u * 64 * 4);
  EXPECT_EQ(run.outcome.counters.global_load.sectors, 16u * 4);
  EXPECT_EQ(run.outcome.counters.shared_store.wavefronts, 16u);
  EXPECT_EQ(run.outcome.counters.shared_store.conflicts, 0u);
  // Without the barrier in the loop, fast warps overwrite what slow ones read.
  std::string racy = body;
  racy.replace(racy.find("bar.sync 0;"), 11, "");
  EXPECT_EQ(Execute(racy).outcome.findings.empty(), false);
}

TEST(CpAsync, MbarriersCoverCopies) {
  const auto body = [](const std::string& arrivals, const std::string& arrive) {
    return "@%p1 mbarrier.init.shared.b64 [t], " + arrivals + "; bar.sync 0;" + kCopy + arrive +
           "mov.u32 %r10, 0; WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [t], %r10; @!%p2 bra "
           "WAIT; xor.b32 %r20, %r20, 128;" +
           kReadBack;
  };
  for (const auto& [arrivals, arrive] :
       {std::pair("64", "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [t];"),
        std::pair("64",
                  "cp.async.mbarrier.arrive.shared.b64 [t]; mbarrier.arrive.shared.b64 %rd9, "
                  "[t];")}) {
    const Outcome run = Execute(body(arrivals, arrive));
    ExpectClean(run);
    for (uint32_t i = 0; i < 64; ++i) {
      EXPECT_EQ(run.written[i], 100 + (i ^ 32)) << arrive;
    }
  }
  // A plain arrival does not cover the copy.
  const Outcome run = Execute(body("64", "mbarrier.arrive.shared.b64 %rd9, [t];"));
  EXPECT_TRUE(Found(run, "race", "has not been waited for")) << Findings(run);
}

}  // namespace
}  // namespace optiml::ptx
