// The race check of global memory: between blocks, warps and lanes, and what orders them.

#include "ptx/global_races.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

using testing::HasSubstr;

constexpr Checks kGlobal{false, true, true, true, true};

// %rd2 = &words[%r1]; %p1: the first thread of a block; %p2: block 0. words[0] is data, words[1] a
// flag. Line 5.
constexpr char kPlaces[] =
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; setp.eq.u32 %p1, %r4, 0; "
    "setp.eq.u32 %p2, %r2, 0;\n.loc 1 5 1\n";

LaunchOutcome Execute(const std::string& body, Dim3 grid = {2}, Dim3 block = {32}) {
  return RunWords(kPlaces + body, grid, block, 256, kGlobal).outcome;
}

std::string Races(const LaunchOutcome& outcome) {
  std::string text = outcome.status == LaunchStatus::kCompleted ? "" : outcome.message + "\n";
  for (const Finding& finding : outcome.findings) {
    text += finding.kind + ": " + finding.detail + "\n";
  }
  return text;
}

void ExpectClean(const std::string& body, Dim3 grid = {2}, Dim3 block = {32}) {
  EXPECT_EQ(Races(Execute(body, grid, block)), "") << body;
}

void ExpectRace(const std::string& body, Dim3 grid = {2}, Dim3 block = {32}) {
  EXPECT_THAT(Races(Execute(body, grid, block)), HasSubstr("race: ")) << body;
}

// Block 0 stores data and sets the flag, block 1 waits for the flag and loads the data.
std::string Pass(const std::string& release, const std::string& acquire) {
  return "@!%p1 bra END; @!%p2 bra WAIT; st.global.u32 [%rd1], 7; " + release +
         " bra END; WAIT: " + acquire +
         " setp.eq.u32 %p3, %r9, 0; @%p3 bra WAIT; ld.global.u32 %r10, [%rd1]; END:";
}

TEST(GlobalRaces, NameBothPartiesAndTheElement) {
  const LaunchOutcome outcome =
      Execute("@%p1 st.global.u32 [%rd1+8], %r2;\n.loc 1 6 1\nld.global.u32 %r9, [%rd1+8];");
  ASSERT_FALSE(outcome.findings.empty());
  const Finding& finding = outcome.findings[0];
  EXPECT_EQ(finding.kind, "race");
  EXPECT_EQ(finding.kernel, "k");
  EXPECT_EQ(finding.line, 6);
  EXPECT_THAT(finding.detail,
              HasSubstr("block (0,0,0) thread (31,0,0): load of words[2] (address 0x"));
  EXPECT_THAT(finding.detail,
              HasSubstr("is not ordered with a store by block (0,0,0) thread (0,0,0) at line 5"));
}

TEST(GlobalRaces, BlocksThatStoreDifferentValues) {
  ExpectClean("st.global.u32 [%rd2], %r1;");
  ExpectRace("@%p1 st.global.u32 [%rd1], %r2;");
  ExpectClean("@%p1 st.global.u32 [%rd1], 7;");
  ExpectRace("@%p1 st.global.v2.u32 [%rd1], {7, %r2};");
  ExpectRace("cvt.u16.u32 %h1, %r2; @%p1 st.global.u8 [%rd1], %h1;");
}

TEST(GlobalRaces, LoadsBesideStoresOfOtherBlocks) {
  ExpectRace("@%p2 st.global.u32 [%rd2], 7; ld.global.u32 %r9, [%rd1];");
  ExpectRace("@!%p2 st.global.u32 [%rd1], 7; ld.global.u32 %r9, [%rd1];");
  ExpectClean("ld.global.u32 %r9, [%rd1];");
}

TEST(GlobalRaces, BytesOfOneWordMayBelongToDifferentBlocks) {
  ExpectClean(
      "cvt.u16.u32 %h1, %r1; cvt.u64.u32 %rd3, %r1; add.s64 %rd3, %rd1, %rd3; "
      "st.global.u8 [%rd3], %h1;",
      {4}, {3});
}

TEST(GlobalRaces, BarriersOrderTheThreadsOfABlock) {
  const std::string store = "st.global.u32 [%rd2], %r1;";
  const std::string load =
      "xor.b32 %r8, %r1, 32; mul.wide.u32 %rd3, %r8, 4; add.s64 %rd3, %rd1, "
      "%rd3; ld.global.u32 %r9, [%rd3];";
  ExpectRace(store + load, {1}, {64});
  ExpectClean(store + "bar.sync 0;" + load, {1}, {64});
  ExpectRace(store + "bar.sync 0;" + load + store, {1}, {64});
}

TEST(GlobalRaces, WarpSynchronisationOrdersLanes) {
  const std::string store = "st.global.u32 [%rd2], %r1;";
  const std::string load =
      "xor.b32 %r8, %r1, 1; mul.wide.u32 %rd3, %r8, 4; add.s64 %rd3, %rd1, "
      "%rd3; ld.global.u32 %r9, [%rd3];";
  ExpectRace(store + load, {1});
  ExpectClean(store + "bar.warp.sync -1;" + load, {1});
  ExpectRace("st.global.u32 [%rd1], %r1;", {1});
}

TEST(GlobalRaces, AWordOfOneLaneThatAllReadNeedsAWarpBarrierWhicheverLaneWrote) {
  for (const int writer : {0, 13, 31}) {
    const std::string store =
        fmt::format("setp.eq.u32 %p3, %r1, {}; @%p3 st.global.u32 [%rd1], %r1;", writer);
    const std::string load = "ld.global.u32 %r9, [%rd1];";
    ExpectRace(store + load, {1});
    ExpectClean(store + "bar.warp.sync -1;" + load, {1});
  }
}

TEST(GlobalRaces, AFlagNeedsAFenceOfTheWriter) {
  const std::string set = "st.volatile.global.u32 [%rd1+4], 1;";
  const std::string wait = "ld.volatile.global.u32 %r9, [%rd1+4];";
  ExpectClean(Pass("membar.gl;" + set, wait));
  ExpectClean(Pass("fence.acq_rel.gpu;" + set, wait));
  ExpectRace(Pass(set, wait));
  ExpectRace(Pass(set + "membar.gl;", wait));
  ExpectRace(Pass("membar.cta;" + set, wait));
  ExpectClean(
      Pass("st.release.gpu.global.u32 [%rd1+4], 1;", "ld.acquire.gpu.global.u32 %r9, [%rd1+4];"));
  ExpectRace(
      Pass("st.relaxed.gpu.global.u32 [%rd1+4], 1;", "ld.acquire.gpu.global.u32 %r9, [%rd1+4];"));
}

TEST(GlobalRaces, AnAtomicReleasesAndAcquiresAsWell) {
  const std::string set = "atom.global.exch.b32 %r9, [%rd1+4], 1;";
  const std::string wait = "atom.global.add.u32 %r9, [%rd1+4], 0;";
  ExpectClean(Pass("membar.gl;" + set, wait));
  ExpectRace(Pass(set, wait));
  ExpectClean(Pass("atom.release.gpu.global.exch.b32 %r9, [%rd1+4], 1;", wait));
  // One that does not return what it found learns nothing.
  ExpectRace(Pass("membar.gl;" + set, "red.global.add.u32 [%rd1+4], 0; mov.u32 %r9, 1;"));
  // A counter hands on what all before it released.
  ExpectClean(
      "@!%p1 bra END; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd3, %rd1, %rd3; "
      "st.global.u32 [%rd3+64], %r2; membar.gl; atom.global.add.u32 %r9, [%rd1], 1; "
      "setp.ne.u32 %p3, %r9, 3; @%p3 bra END; ld.global.u32 %r10, [%rd1+64]; "
      "ld.global.u32 %r11, [%rd1+68]; ld.global.u32 %r12, [%rd1+72]; "
      "st.global.u32 [%rd1], 0; END:",
      {4});
}

TEST(GlobalRaces, ABarrierHandsOnFencesAndWhatWasAcquired) {
  const std::string body =
      "@!%p2 bra TAKE; st.global.u32 [%rd2], %r1; membar.gl; bar.sync 0; "
      "@%p1 st.volatile.global.u32 [%rd1+900], 1; bra END; TAKE: @!%p1 bra TOGETHER; WAIT: "
      "ld.volatile.global.u32 %r9, [%rd1+900]; setp.eq.u32 %p3, %r9, 0; @%p3 bra WAIT; TOGETHER: ";
  const std::string load = "ld.global.u32 %r10, [%rd2+-256]; END:";
  ExpectClean(body + "bar.sync 0;" + load, {2}, {64});
  ExpectRace(body + load, {2}, {64});
}

TEST(GlobalRaces, ScopesOfABlockDoNotReachOthers) {
  ExpectClean("@%p1 atom.global.add.u32 %r9, [%rd1], 1;");
  ExpectRace("@%p1 atom.cta.global.add.u32 %r9, [%rd1], 1;");
  ExpectClean("atom.cta.global.add.u32 %r9, [%rd1], 1;", {1}, {64});
}

TEST(GlobalRaces, PlainAccessesBesideAtomics) {
  ExpectRace("@%p1 atom.global.add.u32 %r9, [%rd1], 1; ld.global.u32 %r10, [%rd1];");
  ExpectRace("@%p1 red.global.add.u32 [%rd1], 1; @!%p2 st.global.u32 [%rd1], 0;");
  // A first guess for a compare-and-swap.
  ExpectClean(
      "@!%p1 bra END; ld.global.u32 %r9, [%rd1]; add.u32 %r10, %r9, 1; "
      "atom.global.cas.b32 %r11, [%rd1], %r9, %r10; END:");
}

TEST(GlobalRaces, RowsOfAWarpKeepTheLaneOfEachWord) {
  // Four words a lane, then one a lane: lane i reads what lane i / 4 stored.
  const std::string quads =
      "mul.wide.u32 %rd3, %r4, 16; add.s64 %rd3, %rd1, %rd3; st.global.v4.u32 [%rd3], {%r4, %r4, "
      "%r4, %r4};";
  const std::string word = "ld.global.u32 %r9, [%rd2];";
  ExpectRace(quads + word, {1});
  ExpectClean(quads + "bar.warp.sync -1;" + word, {1});
  ExpectClean(quads + "ld.global.v4.u32 {%r9, %r10, %r11, %r12}, [%rd3];", {1});
  // The same lanes in words that were stored one by one.
  const std::string other = "ld.global.v2.u32 {%r9, %r10}, [%rd3];";
  const std::string pairs = "mul.wide.u32 %rd3, %r4, 8; add.s64 %rd3, %rd1, %rd3;";
  ExpectRace("st.global.u32 [%rd2], %r1;" + pairs + other, {1});
  ExpectClean("st.global.u32 [%rd2], %r1; bar.warp.sync -1;" + pairs + other, {1});
  // One word of a row that a whole warp stored: the party is its lane.
  const LaunchOutcome outcome = Execute(
      "setp.gt.u32 %p3, %r4, 31; @%p3 bra READ; st.global.u32 [%rd2], %r1; bra END; READ: "
      "ld.global.u32 %r9, [%rd1+44]; END:",
      {1}, {64});
  EXPECT_THAT(Races(outcome), HasSubstr("with a store by block (0,0,0) thread (11,0,0)"));
}

TEST(GlobalRaces, ASecondReaderOfAWholeRowIsRemembered) {
  // Warps 0 and 1 read a row; a thread of warp 2 stores to it, behind a barrier with one of them.
  const std::string read =
      "and.b32 %r5, %r4, 31; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd3, %rd1, %rd3; shr.u32 %r6, "
      "%r4, 5; setp.lt.u32 %p3, %r6, 2; setp.eq.u32 %p4, %r4, 64; @%p3 ld.global.u32 %r9, [%rd3];";
  const std::string store = "@%p4 st.global.u32 [%rd1+8], %r4;";
  ExpectRace(read + store, {1}, {96});
  ExpectClean(read + "bar.sync 0;" + store, {1}, {96});
  for (const int known : {0, 1}) {
    ExpectRace(read +
                   fmt::format("setp.eq.u32 %p5, %r6, {}; @%p5 bra SKIP; bar.sync 1, 64; SKIP: ",
                               1 - known) +
                   store,
               {1}, {96});
  }
}

TEST(GlobalRaces, AFlagThatIsReadInAnotherWidthStillOrders) {
  const std::string set = "membar.gl; st.volatile.global.u64 [%rd1+8], 4294967297;";
  ExpectClean(Pass(set, "ld.volatile.global.u32 %r9, [%rd1+8];"));
  ExpectClean(Pass(set, "ld.volatile.global.u32 %r9, [%rd1+12];"));
  ExpectClean(Pass("membar.gl; st.volatile.global.u32 [%rd1+12], 1;",
                   "ld.volatile.global.u64 %rd4, [%rd1+8]; shr.u64 %rd4, %rd4, 32; cvt.u32.u64 "
                   "%r9, %rd4;"));
  ExpectClean(Pass("membar.gl; st.volatile.global.v2.u32 [%rd1+8], {0, 1};",
                   "ld.volatile.global.u32 %r9, [%rd1+12];"));
  // Bytes beside each other are flags of their own.
  const std::string other = "ld.volatile.global.u8 %h1, [%rd1+9]; cvt.u32.u16 %r9, %h1;";
  ExpectClean(Pass("mov.b16 %h2, 1; membar.gl; st.volatile.global.u8 [%rd1+9], %h2;", other));
  ExpectRace(
      Pass("mov.b16 %h2, 1; st.volatile.global.u8 [%rd1+9], %h2; membar.gl; "
           "st.volatile.global.u8 [%rd1+8], %h2;",
           other));
}

// Two warps share each of 32 rows, so that every word has tags of its own: 12 bytes of stores, 20
// of loads.
TEST(GlobalRaces, TagsOfStoresAndOfLoadsTakeTheirOwnRoom) {
  const auto notes = [](const std::string& access, uint64_t room) {
    SetRaceTagBytesForTest(room);
    const LaunchOutcome outcome =
        RunWords(
            "and.b32 %r9, %r4, 31; shl.b32 %r9, %r9, 5; shr.u32 %r10, %r4, 5; add.u32 %r9, "
            "%r9, %r10; mul.wide.u32 %rd2, %r9, 4; add.s64 %rd2, %rd1, %rd2;" +
                access,
            {1}, {64}, 1024, kGlobal)
            .outcome;
    SetRaceTagBytesForTest(0);
    EXPECT_EQ(Races(outcome), "");
    return outcome.notes.size();
  };
  constexpr uint64_t kPage = 3 * 1024;  // of the rows themselves, and a little more
  const std::string store = "st.global.u32 [%rd2], %r4;";
  const std::string load = "ld.global.u32 %r11, [%rd2];";
  EXPECT_EQ(notes(store, kPage + 12 * 1024), 0u);
  EXPECT_EQ(notes(load, kPage + 20 * 1024), 0u);
  EXPECT_EQ(notes(load + store, kPage + 32 * 1024), 0u);
  EXPECT_EQ(notes(store, 12 * 1024), 1u);
  EXPECT_EQ(notes(load, 20 * 1024), 1u);
}

// Loads of a row stay known when its stores got tags of their own, and the other way round.
TEST(GlobalRaces, CellsOfOneKindLeaveTheOtherKindKnown) {
  const std::string odd = "shr.u32 %r9, %r4, 5; setp.eq.u32 %p3, %r9, 1;";
  // Warp 1 stores to words whose neighbours warp 0 loaded and stored.
  ExpectRace(odd +
                 "@!%p3 ld.global.u32 %r10, [%rd1+4]; @!%p3 st.global.u32 [%rd1+8], 7; "
                 "@%p3 st.global.u32 [%rd1+12], 7; @%p3 st.global.u32 [%rd1+4], 7;",
             {1}, {64});
  ExpectClean(odd +
                  "@!%p3 ld.global.u32 %r10, [%rd1+4]; @!%p3 st.global.u32 [%rd1+8], 7; "
                  "@%p3 st.global.u32 [%rd1+12], 7; bar.sync 0; @%p3 st.global.u32 [%rd1+4], 7;",
              {1}, {64});
  // Warp 1 loads what warp 0 stored, after the loads of the row were told apart.
  ExpectRace(odd +
                 "@!%p3 st.global.u32 [%rd1+4], 7; @!%p3 ld.global.u32 %r10, [%rd1+8]; "
                 "@%p3 ld.global.u32 %r10, [%rd1+12]; @%p3 ld.global.u32 %r10, [%rd1+4];",
             {1}, {64});
  ExpectClean(odd +
                  "@!%p3 st.global.u32 [%rd1+4], 7; @!%p3 ld.global.u32 %r10, [%rd1+8]; "
                  "@%p3 ld.global.u32 %r10, [%rd1+12]; bar.sync 0; @%p3 ld.global.u32 %r10, "
                  "[%rd1+4];",
              {1}, {64});
}

TEST(GlobalRaces, SayWhenTheyGiveUp) {
  const std::string racing = "@%p1 st.global.u32 [%rd1], %r2;";
  EXPECT_TRUE(Execute(racing).notes.empty());
  // More memory than tags have room for; what is found before counts.
  SetRaceTagBytesForTest(4 * 1024);
  EXPECT_TRUE(Execute(racing).notes.empty());
  const std::string wide = "mul.wide.u32 %rd3, %r1, 4096; add.s64 %rd3, %rd1, %rd3;";
  const auto far = [&](const std::string& access) {
    return RunWords(wide + access, {1}, {4}, 8192, kGlobal).outcome;
  };
  const LaunchOutcome plain = far("st.global.u32 [%rd3], 1;");
  ASSERT_EQ(plain.notes.size(), 1u);
  EXPECT_EQ(plain.notes[0],
            "race check incomplete: what the launch touched needs more than 4 KiB of tags");
  EXPECT_TRUE(plain.clean());
  // Tags of atomics and volatile accesses take room as well: one page has both.
  SetRaceTagBytesForTest(16 * 1024);
  const std::string one = "ld.global.u32 %r9, [%rd1];";
  EXPECT_TRUE(RunWords(one, {1}, {1}, 8, kGlobal).outcome.notes.empty());
  const std::string both = "ld.volatile.global.u32 %r9, [%rd1];";
  EXPECT_EQ(RunWords(both, {1}, {1}, 8, kGlobal).outcome.notes.size(), 1u);
  SetRaceTagBytesForTest(0);
  EXPECT_TRUE(far("st.global.u32 [%rd3], 1;").notes.empty());
  // More fences than stamps, in one block.
  const LaunchOutcome fences =
      RunWords(
          "mov.u32 %r9, 0;\nL: membar.gl; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 4200000; "
          "@%p1 bra L;",
          {1}, {1}, 8, kGlobal)
          .outcome;
  ASSERT_EQ(fences.notes.size(), 1u);
  EXPECT_EQ(fences.notes[0],
            "race check incomplete: block (0,0,0) passed 4 million fences, barriers and exchanges");
}

TEST(GlobalRaces, AreLookedForOnlyWhenAsked) {
  const auto run = RunWords(std::string(kPlaces) + "@%p1 st.global.u32 [%rd1], %r2;", {2}, {32},
                            256, {true, true, true, true, false});
  EXPECT_EQ(Races(run.outcome), "");
}

}  // namespace
}  // namespace optiml::ptx
