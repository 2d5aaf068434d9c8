#include "cli/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_toolbox.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

// A folder with a stored run; its sample is finished or not.
void MakeRun(CommandLine& line, const std::string& name, RunRecord run) {
  run.id = RunId{name};
  ASSERT_TRUE(CreateDirectories(line.Path(name)));
  auto store = RunStore::Create(line.Path(name) / kStoreName, run);
  ASSERT_TRUE(store) << store.error().message();
}

TEST(ChooseRunFolder, NamesTheTaskAndTheTimeAndAvoidsWhatIsThere) {
  CommandLine line;
  EXPECT_EQ(*ChooseRunFolder("", "soft max", line.env),
            line.Path("optiml-runs/soft-max-20000101-000000"));
  line.Write("optiml-runs/soft-max-20000101-000000/x", "");
  EXPECT_EQ(*ChooseRunFolder("", "soft max", line.env),
            line.Path("optiml-runs/soft-max-20000101-000000-2"));
}

TEST(ChooseRunFolder, RefusesFoldersThatHoldSomething) {
  CommandLine line;
  MakeRun(line, "old", sample::UnfinishedRun());
  line.Write("full/notes.txt", "");
  EXPECT_THAT(ChooseRunFolder("old", "t", line.env).error().message(),
              HasSubstr("already holds a run (continue it with `optiml resume old`"));
  EXPECT_THAT(ChooseRunFolder("full", "t", line.env).error().message(), HasSubstr("not empty"));
  EXPECT_THAT(ChooseRunFolder("full/notes.txt", "t", line.env).error().message(),
              HasSubstr("is no folder"));
  EXPECT_TRUE(ChooseRunFolder("new/one", "t", line.env));
}

TEST(FindRunFolder, TakesFolderFileNameAndLast) {
  CommandLine line;
  MakeRun(line, "optiml-runs/a", sample::UnfinishedRun());
  MakeRun(line, "optiml-runs/b", sample::UnfinishedRun());
  fs::last_write_time(line.Path("optiml-runs/a/run.sqlite"),
                      fs::file_time_type::clock::now() + std::chrono::hours(1));
  const fs::path a = line.Path("optiml-runs/a");
  EXPECT_EQ(*FindRunFolder("optiml-runs/a", line.env), a);
  EXPECT_EQ(*FindRunFolder("optiml-runs/a/run.sqlite", line.env), a);
  EXPECT_EQ(*FindRunFolder("a", line.env), a);
  EXPECT_EQ(*FindRunFolder("last", line.env), a);
  const auto none = FindRunFolder("c", line.env);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
}

TEST(FindRunFolder, LastWithoutAnyRunSaysSo) {
  CommandLine line;
  EXPECT_THAT(FindRunFolder("last", line.env).error().message(), HasSubstr("no run is here"));
}

TEST(WriteRunFiles, BestKernelOnlyOfAFinishedRun) {
  CommandLine line;
  ASSERT_TRUE(CreateDirectories(line.Path("r")));
  const auto some = WriteRunFiles(line.Path("r"), MakeReportModel(sample::UnfinishedRun()));
  ASSERT_TRUE(some);
  EXPECT_FALSE(line.Exists("r/best.cu"));
  EXPECT_TRUE(line.Exists("r/report.html"));
  const auto all = WriteRunFiles(line.Path("r"), MakeReportModel(sample::FinishedRun()));
  ASSERT_TRUE(all);
  EXPECT_EQ(line.Read("r/best.cu"), sample::VectorSource());
  EXPECT_THAT(line.Read("r/best.patch"), HasSubstr("--- a/kernel.cu\n+++ b/kernel.cu\n@@"));
}

TEST(ShownPath, IsRelativeOnlyBelowTheWorkingFolder) {
  CommandLine line;
  EXPECT_EQ(ShownPath(line.Path("optiml-runs/a"), line.env), "optiml-runs/a");
  EXPECT_EQ(ShownPath("/elsewhere/a", line.env), "/elsewhere/a");
}

}  // namespace
}  // namespace optiml
