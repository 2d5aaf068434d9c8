// The commands that read a stored run: report, runs, replay, export.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/fake_toolbox.h"
#include "cli/run_folder.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

int64_t Lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

constexpr char kRun[] = "optiml-runs/copy-20000101-000000";

TEST(Bench, RunsBecomeALandscapeThatIsSearched) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  EXPECT_EQ(line.Run({"bench", "landscape", "run", "run", "-o", "copy.landscape"}), kExitDone)
      << line.err.str();
  EXPECT_THAT(line.out.str(), StartsWith("copy.landscape: copy on h200 (emulated), "));
  EXPECT_THAT(line.out.str(), HasSubstr("predicted"));
  EXPECT_EQ(line.Run({"bench", "search", "copy.landscape", "--seeds", "2"}), kExitDone)
      << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("greedy"));
  EXPECT_EQ(line.Run({"bench", "search", "copy.landscape", "--json"}), kExitDone);
  const auto json = nlohmann::json::parse(line.out.str());
  EXPECT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0]["times_are"], "predicted");
  EXPECT_EQ(line.Run({"bench", "landscape", "run"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("needs --out FILE"));
  line.Write("bad.landscape", "nothing");
  EXPECT_EQ(line.Run({"bench", "search", "bad.landscape"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("bad.landscape:1: no line of a landscape"));
}

TEST(Report, FullDiskLeavesTheOldReportAndNoHalf) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  line.Write("run/report.html", "the old one");
  const size_t files = line.FilesIn("run");
  {
    const FileSizeLimit limit(1000);
    EXPECT_EQ(line.Run({"report", "run"}), kExitEnvironment);
  }
  EXPECT_THAT(line.err.str(), HasSubstr("report.html: cannot write"));
  EXPECT_THAT(line.err.str(), HasSubstr("--out"));
  EXPECT_EQ(line.Read("run/report.html"), "the old one");
  EXPECT_EQ(line.FilesIn("run"), files);
}

TEST(Report, PrintsMarkdownAndJsonAndWritesHtml) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  fs::remove(line.Path("run/report.html"));
  EXPECT_EQ(line.Run({"report", "run"}), kExitDone);
  EXPECT_EQ(line.out.str(), "run/report.html\n");
  EXPECT_THAT(line.Read("run/report.html"), HasSubstr("</html>"));
  EXPECT_EQ(line.Run({"report", "run", "--format", "markdown"}), kExitDone);
  EXPECT_THAT(line.out.str(), StartsWith("# copy"));
  EXPECT_EQ(line.Run({"report", "run", "--json"}), kExitDone);
  EXPECT_EQ(nlohmann::json::parse(line.out.str())["schema"], "optiml-report-1");
  EXPECT_EQ(line.Run({"report", "run", "--format", "markdown", "-o", "r.md"}), kExitDone);
  EXPECT_THAT(line.Read("r.md"), StartsWith("# copy"));
}

TEST(Report, CorruptStoreIsOneMessage) {
  CommandLine line;
  line.Write("run/run.sqlite", "this is no database");
  for (const char* command : {"report", "resume", "replay"}) {
    const int exit_code = line.Run({command, "run"});
    EXPECT_TRUE(exit_code == kExitBadUse || exit_code == kExitEnvironment) << exit_code;
    EXPECT_THAT(line.err.str(), HasSubstr("run.sqlite"));
    EXPECT_EQ(Lines(line.err.str()), 1);
  }
  EXPECT_EQ(line.Read("run/run.sqlite"), "this is no database");
}

TEST(Report, RunThatIsNotThereIsBadUse) {
  CommandLine line;
  EXPECT_EQ(line.Run({"report", "nothing"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("nothing: no run is here"));
}

TEST(Replay, SaysWhetherTheTreeIsTheSame) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  EXPECT_EQ(line.Run({"replay", "run"}), kExitDone);
  EXPECT_EQ(line.out.str(), "run: the same tree of 8 nodes, best node 5\n");
  line.tools.replay = Error(ErrorCode::kInternal, "step 3: asked node 4, now node 6");
  EXPECT_EQ(line.Run({"replay", "run"}), kExitEnvironment);
  EXPECT_EQ(line.err.str(), "optiml: step 3: asked node 4, now node 6\n");
}

TEST(Runs, ListsRunsAndNamesUnreadableOnes) {
  CommandLine line;
  EXPECT_EQ(line.Run({"runs"}), kExitDone);
  EXPECT_EQ(line.out.str(), "no runs in optiml-runs\n");
  ASSERT_EQ(line.Run({"optimize", "copy"}), kExitDone);
  EXPECT_EQ(line.Run({"runs"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr(kRun));
  EXPECT_THAT(line.out.str(), HasSubstr("6.32x predicted"));
  line.Write("optiml-runs/bad/run.sqlite", "junk");
  EXPECT_EQ(line.Run({"runs", "--json"}), kExitEnvironment);
  const auto json = nlohmann::json::parse(line.out.str());
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["state"], "unreadable");
  EXPECT_EQ(json[1]["candidates"], 7);
  EXPECT_EQ(line.Run({"runs", "nowhere"}), kExitBadUse);
}

TEST(Runs, AMessageIsOneLine) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "optiml-runs/bad"}), kExitDone);
  std::string store = line.Read("optiml-runs/bad/run.sqlite");
  for (size_t at = 4096; at + 4096 < store.size(); at += 4096) {
    store.replace(at, 16, 16, '\xff');  // the head of each page but the first
  }
  line.Write("optiml-runs/bad/run.sqlite", store);
  EXPECT_EQ(line.Run({"runs"}), kExitEnvironment);
  EXPECT_THAT(line.err.str(), StartsWith("optiml: "));
  EXPECT_THAT(line.err.str(), HasSubstr("; "));  // SQLite itself says it on two lines
  EXPECT_EQ(Lines(line.err.str()), 1);
}

TEST(Runs, TellRunningFromKilled) {
  CommandLine line;
  RunRecord run = sample::UnfinishedRun();
  ASSERT_TRUE(CreateDirectories(line.Path("optiml-runs/a")));
  {
    const auto store = RunStore::Create(line.Path("optiml-runs/a/run.sqlite"), run);
    ASSERT_TRUE(store);
    EXPECT_EQ(line.Run({"runs"}), kExitDone);
    EXPECT_THAT(line.out.str(), HasSubstr(" running "));
  }
  EXPECT_EQ(line.Run({"runs"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr(" killed "));
}

TEST(Export, WritesEverythingOrNothing) {
  CommandLine line;
  ASSERT_EQ(line.Run({"optimize", "copy", "--out", "run"}), kExitDone);
  EXPECT_EQ(line.Run({"export", "run", "-o", "out"}), kExitDone);
  EXPECT_EQ(line.Read("out/best.cu"), sample::VectorSource());
  EXPECT_EQ(line.FilesIn("out/variants"), 8u);
  EXPECT_EQ(line.Read("out/variants/0000.cu"), sample::NaiveSource());
  EXPECT_EQ(line.Run({"export", "run", "-o", "out"}), kExitBadUse);
  {
    const FileSizeLimit limit(500);
    EXPECT_EQ(line.Run({"export", "run", "-o", "full"}), kExitEnvironment);
  }
  EXPECT_FALSE(line.Exists("full"));
  EXPECT_FALSE(line.Exists("full.part"));
}

}  // namespace
}  // namespace optiml
