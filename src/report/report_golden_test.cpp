// Whole reports, compared with files under tests/golden/report. OPTIML_UPDATE_GOLDEN=1 rewrites
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "report/report.h"
#include "report/sample_run.h"

namespace optiml {
namespace {

void ExpectGolden(const std::string& name, const std::string& text) {
  const fs::path file = fs::path(OPTIML_SOURCE_DIR) / "tests/golden/report" / name;
  if (std::getenv("OPTIML_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(CreateDirectories(file.parent_path()));
    ASSERT_TRUE(WriteFileAtomically(file, text));
  }
  const auto golden = ReadFile(file);
  ASSERT_TRUE(golden) << golden.error().message();
  EXPECT_EQ(text, *golden) << name << " differs; OPTIML_UPDATE_GOLDEN=1 rewrites it";
}

TEST(MarkdownReport, OfAFinishedRun) {
  ExpectGolden("finished.md", MarkdownReport(MakeReportModel(sample::FinishedRun())));
}

TEST(MarkdownReport, OfARunThatHasNotEnded) {
  ExpectGolden("unfinished.md", MarkdownReport(MakeReportModel(sample::UnfinishedRun())));
}

TEST(JsonReport, OfAFinishedRun) {
  ExpectGolden("finished.json", JsonReport(MakeReportModel(sample::FinishedRun())));
}

TEST(BestPatch, OfAFinishedRun) {
  ExpectGolden("best.patch", BestPatch(MakeReportModel(sample::FinishedRun())));
}

TEST(JsonReport, SurvivesBytesThatAreNoUtf8) {
  RunRecord run = sample::FinishedRun();
  run.nodes[2].evaluation.outcome = Rejection{Stage::kBuild, "bad byte \xff"};
  const auto json = nlohmann::json::parse(JsonReport(MakeReportModel(run)));
  EXPECT_EQ(json["rejected"][0]["reason"], "bad byte \xEF\xBF\xBD");
}

TEST(ReportFormat, KnowsItsNames) {
  EXPECT_EQ(ParseReportFormat("md"), ReportFormat::kMarkdown);
  EXPECT_EQ(ParseReportFormat("html"), ReportFormat::kHtml);
  EXPECT_EQ(ParseReportFormat("pdf"), std::nullopt);
}

}  // namespace
}  // namespace optiml
