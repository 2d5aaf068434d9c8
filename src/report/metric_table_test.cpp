#include "report/metric_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "base/file_system.h"

namespace optiml {
namespace {

TEST(MetricTable, HasEveryMetricOfCoreOnce) {
  std::string header;
  for (const char* file : {"src/core/metrics.h", "src/core/hardware_metrics.h"}) {
    const auto text = ReadFile(fs::path(OPTIML_SOURCE_DIR) / file);
    ASSERT_TRUE(text);
    header += *text;
  }
  const std::regex constant("inline constexpr char k\\w+\\[\\] =\\s+\"([^\"]+)\"");
  std::set<std::string> declared;
  for (std::sregex_iterator it(header.begin(), header.end(), constant), end; it != end; ++it) {
    declared.insert((*it)[1]);
  }
  EXPECT_GT(declared.size(), 20u);
  std::multiset<std::string> listed;
  for (const MetricInfo& info : MetricTable()) {
    listed.insert(info.id);
    EXPECT_NE(std::string(info.unit), "");
    EXPECT_NE(std::string(info.meaning), "");
  }
  EXPECT_THAT(listed, ::testing::ElementsAreArray(declared));
}

TEST(MetricTable, UnknownMetricsKeepTheirOwnName) {
  EXPECT_EQ(FindMetric("made__up.sum"), nullptr);
  EXPECT_EQ(MetricTitle("made__up.sum"), "made__up.sum");
  EXPECT_EQ(MetricTitle(metric::kRegisters), "registers per thread");
}

TEST(MetricsDocument, IsTheFileInDocs) {
  const fs::path file = fs::path(OPTIML_SOURCE_DIR) / "docs/metrics.md";
  if (std::getenv("OPTIML_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(file, MetricsDocument()));
  }
  const auto text = ReadFile(file);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, MetricsDocument()) << "set OPTIML_UPDATE_GOLDEN=1 to rewrite docs/metrics.md";
}

}  // namespace
}  // namespace optiml
