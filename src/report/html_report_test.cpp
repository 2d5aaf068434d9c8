#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "report/html_parts.h"
#include "report/report.h"
#include "report/sample_run.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Page() {
  return HtmlReport(MakeReportModel(sample::FinishedRun()));
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(HtmlReport, FetchesNothing) {
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
  EXPECT_FALSE(std::regex_search(page, std::regex("(src|href)=[\"']?(?!#)[a-z/.]")));
  EXPECT_EQ(Count(page, "@import"), 0u);
  EXPECT_EQ(Count(page, "url("), 0u);
}

TEST(HtmlReport, WhatAnEditIsWorthIsSaidOnce) {
  RunRecord run = sample::FinishedRun();
  const size_t before = Count(HtmlReport(MakeReportModel(run)), " as long");
  for (ChainStep& step : run.result->chain) {
    if (step.time_without_s) {
      step.note = "without it the chain takes 2.05 times as long";
    }
  }
  const ReportModel report = MakeReportModel(run);
  EXPECT_EQ(Count(HtmlReport(report), " as long"), before);
  EXPECT_EQ(Count(MarkdownReport(report), "2.05 times as long"), 1u);
  EXPECT_EQ(Count(MarkdownReport(report), "the kernel would take"), 0u);
}

TEST(HtmlReport, SourcesCannotLeaveTheirPlace) {
  const std::string page = Page();
  EXPECT_EQ(Count(page, "</script>"), 1u);
  EXPECT_EQ(Count(page, "<script>"), 1u);
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;b&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<else>")));
  EXPECT_THAT(page, Not(HasSubstr("<here>")));
  EXPECT_THAT(page, Not(HasSubstr("<from 24>")));
}

TEST(HtmlReport, EveryNodeHasARowAndDetailsAndEveryLinkATarget) {
  const std::string page = Page();
  std::set<std::string> ids;
  const std::regex id("\\sid=\"?([a-z0-9-]+)");
  for (std::sregex_iterator it(page.begin(), page.end(), id), end; it != end; ++it) {
    EXPECT_TRUE(ids.insert((*it)[1]).second) << "id given twice: " << (*it)[1];
  }
  for (int node = 0; node < 8; ++node) {
    EXPECT_TRUE(ids.contains("node-" + std::to_string(node)));
    EXPECT_THAT(page, HasSubstr("data-node=" + std::to_string(node) + ">"));
  }
  const std::regex link("href=\"#([^\"]+)\"");
  for (std::sregex_iterator it(page.begin(), page.end(), link), end; it != end; ++it) {
    EXPECT_TRUE(ids.contains((*it)[1])) << (*it)[1];
  }
}

TEST(HtmlReport, BlockElementsAreClosed) {
  const std::string page = Page();
  for (const std::string element :
       {"section", "article", "details", "table", "ul", "ol", "dl", "div", "svg", "nav", "code",
        "a", "header", "main", "i", "span", "pre"}) {
    std::regex open("<" + element + "(\\s[^<>]*)?>");
    const auto opened = std::distance(std::sregex_iterator(page.begin(), page.end(), open), {});
    EXPECT_EQ(static_cast<size_t>(opened), Count(page, "</" + element + ">")) << element;
  }
}

TEST(HtmlReport, ShowsThatTimesArePredictedAndWhatWasNotObtained) {
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("predicted gain"));
  EXPECT_THAT(page, Not(HasSubstr("measured gain")));
  EXPECT_THAT(page, HasSubstr("not obtained"));
  EXPECT_THAT(page, HasSubstr(">KEEP<"));
  EXPECT_THAT(page, HasSubstr(">BRIDGE<"));
  EXPECT_THAT(page, HasSubstr("y[0, 999]: expected 0.25"));
}

TEST(HtmlReport, DrawsWhereAnOutputIsWrong) {
  const std::string page = Page();
  EXPECT_EQ(Count(page, "class=errormap"), 1u);
  EXPECT_THAT(page, HasSubstr("role=img aria-label=\"Error of y, 33 x 1000 elements, in 33 x 64 "
                              "cells that show the worst of theirs: "));
  EXPECT_THAT(page, HasSubstr(">never written</text>"));
  EXPECT_THAT(page, HasSubstr(">up to 10 x what is allowed</text>"));
  EXPECT_THAT(page, HasSubstr("<path class=m6 d=\"M57 0.5h7"));
}

TEST(HtmlReport, AMapOfTheWrongSizeIsNotDrawn) {
  ErrorMap map = sample::MakeMap();
  EXPECT_THAT(ErrorMapFigure(map), HasSubstr("<svg"));
  map.cells.pop_back();
  EXPECT_EQ(ErrorMapFigure(map), "");
  map = ErrorMap();
  EXPECT_EQ(ErrorMapFigure(map), "");
}

TEST(HtmlReport, ShowsWhereTheDeliveredFileIsWrong) {
  RunRecord run = sample::FinishedRun();
  run.result->delivered = sample::RejectWithMismatch();
  EXPECT_EQ(Count(HtmlReport(MakeReportModel(run)), "class=errormap"), 2u);
}

TEST(Report, WhatCouldNotBeCheckedStandsApart) {
  RunRecord run = sample::FinishedRun();
  EXPECT_THAT(Page(), Not(HasSubstr("Not checked")));
  Rejection untraceable{Stage::kPlan, "kernel.cu:5: the launcher uses goto", true};
  run.nodes[2].evaluation.outcome = untraceable;
  const ReportModel model = MakeReportModel(run);
  EXPECT_EQ(model.unsupported_count, 1);
  EXPECT_EQ(model.rejected.size(), 3u);
  EXPECT_TRUE(model.rejected.back().is_unsupported);
  const std::string page = HtmlReport(model);
  EXPECT_THAT(page, HasSubstr("2 of 7 candidates were rejected"));
  const size_t apart = page.find("<table class=ledger id=unchecked>");
  ASSERT_NE(apart, std::string::npos);
  EXPECT_GT(page.find("uses goto", apart), apart);
  EXPECT_THAT(MarkdownReport(model), HasSubstr("## Candidates that could not be checked"));
  EXPECT_THAT(JsonReport(model), HasSubstr("\"unsupported\": true"));
}

TEST(Report, SaysWhoMadeThePlans) {
  RunRecord run = sample::FinishedRun();
  run.nodes[0].evaluation.launcher = "recorded";
  run.result->root->launcher = "recorded";
  const ReportModel model = MakeReportModel(run);
  EXPECT_THAT(HtmlReport(model), HasSubstr("<dt>launcher<dd>rows (recorded)"));
  EXPECT_THAT(MarkdownReport(model), HasSubstr("- launcher: rows (recorded)"));
  EXPECT_THAT(JsonReport(model), HasSubstr("\"launcher\": \"recorded\""));
}

TEST(Report, SaysWhatHostModeDoesNotPromise) {
  RunRecord run = sample::FinishedRun();
  const std::string note = "traced for each checked input, and are known for no other";
  EXPECT_THAT(HtmlReport(MakeReportModel(run)), testing::Not(HasSubstr(note)));
  run.nodes[0].evaluation.launcher = "host mode";
  run.result->root->launcher = "host mode";
  const ReportModel model = MakeReportModel(run);
  EXPECT_THAT(HtmlReport(model), HasSubstr("<dt>launcher<dd>rows (host mode)"));
  EXPECT_THAT(HtmlReport(model), HasSubstr(note));
  EXPECT_THAT(MarkdownReport(model), HasSubstr(note));
  const std::string json = JsonReport(model);
  EXPECT_THAT(json, HasSubstr("\"guarantees\": \"host mode: the launcher reads"));
  EXPECT_THAT(json, HasSubstr(note));
}

TEST(HtmlReport, OfARunThatHasJustBegunIsAPage) {
  RunRecord run = sample::UnfinishedRun();
  run.nodes.clear();
  run.battery.clear();
  run.lifts.clear();
  const std::string page = HtmlReport(MakeReportModel(run));
  EXPECT_THAT(page, HasSubstr("No candidate was evaluated."));
  EXPECT_THAT(page, HasSubstr("</html>"));
}

TEST(HtmlReport, ThousandNodesStayWithinMegabytes) {
  RunRecord run = sample::UnfinishedRun();
  const size_t samples = run.nodes.size();
  for (int64_t id = static_cast<int64_t>(samples); id < 1000; ++id) {
    NodeRecord node = run.nodes[static_cast<size_t>(id) % samples];
    node.id = id;
    node.parent = id / 2;
    run.nodes.push_back(node);
  }
  EXPECT_LT(HtmlReport(MakeReportModel(run)).size(), size_t{16} << 20);
}

TEST(HighlightLine, EscapesAndCarriesBlockComments) {
  bool in_comment = false;
  EXPECT_EQ(HighlightLine("if (a < 2) /* x", in_comment),
            "<i class=k>if</i> (a &lt; <i class=n>2</i>) <i class=c>/* x</i>");
  EXPECT_TRUE(in_comment);
  EXPECT_EQ(HighlightLine("y */ b / c", in_comment), "<i class=c>y */</i> b / c");
  EXPECT_FALSE(in_comment);
  EXPECT_EQ(HighlightLine("#define A \"</i>\"", in_comment),
            "<i class=k>#define</i> A <i class=s>&quot;&lt;/i&gt;&quot;</i>");
  EXPECT_EQ(HighlightLine("'", in_comment), "<i class=s>&#39;</i>");
}

}  // namespace
}  // namespace optiml
