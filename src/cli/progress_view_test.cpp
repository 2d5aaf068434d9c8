#include "cli/progress_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Progress Searching() {
  Progress progress;
  progress.phase = Progress::Phase::kSearch;
  progress.candidates_done = 10;
  progress.candidates_budget = 40;
  progress.root_time_s = 1.2e-3;
  progress.best_time_s = 3e-4;
  progress.elapsed = std::chrono::seconds(12);
  progress.eta = std::chrono::seconds(36);
  progress.last = "vector_width(width=4): rejected at L1:\ny differs";
  return progress;
}

TEST(TerminalLine, ShowsBarBestTimeAndWhatIsLeftInOneLine) {
  const std::string line = TerminalLine(Searching(), 200);
  EXPECT_THAT(line, HasSubstr("[######------------------] 10/40"));
  EXPECT_THAT(line, HasSubstr("best 4.00x predicted (1.200 ms -> 300.0 us)"));
  EXPECT_THAT(line, HasSubstr("12.0 s, 36.0 s left"));
  EXPECT_THAT(line, HasSubstr("rejected at L1: y differs"));
  EXPECT_THAT(line, Not(HasSubstr("\n")));
}

TEST(TerminalLine, ShowsWhatModelsCost) {
  Progress progress = Searching();
  EXPECT_THAT(TerminalLine(progress, 300), Not(HasSubstr("models")));
  progress.models = {{"proposer", 3, 12'400, 0.041}, {"judge", 1, 900, 0}};
  EXPECT_THAT(
      TerminalLine(progress, 300),
      HasSubstr("models: proposer 3 calls, 12.4 k tokens, $0.04; judge 1 call, 900 tokens"));
  EXPECT_THAT(PlainLine(progress), HasSubstr("; models: proposer 3 calls"));
}

TEST(TerminalLine, IsCutToTheTerminal) {
  EXPECT_EQ(TerminalLine(Searching(), 60).size(), 59u);
}

TEST(TerminalLine, SaysMeasuredOnlyWhenItWas) {
  Progress progress = Searching();
  progress.measured = true;
  EXPECT_THAT(TerminalLine(progress, 200), HasSubstr("best 4.00x measured"));
}

TEST(PlainLine, NamesThePhaseBeforeAnyTimeIsKnown) {
  Progress progress;
  progress.phase = Progress::Phase::kBattery;
  EXPECT_EQ(PlainLine(progress), "testing the task's checks");
}

TEST(ProgressView, RedrawsItsLineOnATerminalAndRemovesItAtTheEnd) {
  std::ostringstream err;
  CliEnv env;
  env.err = &err;
  env.err_is_terminal = true;
  {
    ProgressView view(env, false);
    view.Show(Searching());
  }
  EXPECT_THAT(err.str(), ::testing::StartsWith("\r\x1b[K["));
  EXPECT_THAT(err.str(), ::testing::EndsWith("\r\x1b[K"));
  EXPECT_THAT(err.str(), Not(HasSubstr("\n")));
}

TEST(ProgressView, WritesPlainLinesOnceEachElsewhere) {
  std::ostringstream err;
  CliEnv env;
  env.err = &err;
  ProgressView view(env, false);
  view.Show(Searching());
  view.Show(Searching());
  EXPECT_EQ(
      err.str(),
      "10/40 vector_width(width=4): rejected at L1: y differs; best 4.00x predicted (1.200 ms "
      "-> 300.0 us)\n");
}

TEST(ProgressView, IsSilentWhenAskedToBe) {
  std::ostringstream err;
  CliEnv env;
  env.err = &err;
  ProgressView view(env, true);
  view.Show(Searching());
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace optiml
