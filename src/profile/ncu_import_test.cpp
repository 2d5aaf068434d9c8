#include "profile/ncu_import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kColumns[] =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC")";

std::string Row(const std::string& kernel, const std::string& block, const std::string& grid,
                const std::string& values) {
  return fmt::format(R"("0","77","app","127.0.0.1","{}","1","7","{}","{}","0","9.0",{})", kernel,
                     block, grid, values) +
         "\n";
}

std::string File(const std::string& metrics, const std::string& units, const std::string& rows) {
  return std::string(kColumns) + "," + metrics + "\n" + R"("","","","","","","","","","","",)" +
         units + "\n" + rows;
}

LaunchPlan Plan(const std::vector<std::string>& kernels, Dim3 grid = {64, 2, 1}) {
  LaunchPlan plan;
  plan.steps.push_back(MemsetStep());
  for (const std::string& kernel : kernels) {
    KernelLaunch launch;
    launch.kernel = kernel;
    launch.grid = grid;
    launch.block = {256, 1, 1};
    plan.steps.push_back(launch);
  }
  return plan;
}

Result<NcuProfile> Import(const std::string& text, const LaunchPlan& plan) {
  OPTIML_ASSIGN(const std::vector<NcuLaunch> launches, ParseNcuCsv(text, "c.csv"));
  return ProfileFromNcu(launches, plan, "c.csv");
}

std::string ErrorOf(const std::string& text, const LaunchPlan& plan) {
  const auto result = Import(text, plan);
  return result.has_value() ? "no error" : result.error().message();
}

TEST(NcuImport, TakesMetricsInBaseUnitsAndLeavesOutWhatIsNotThere) {
  const std::string file = File(
      R"("dram__bytes_read.sum","lts__t_sector_hit_rate.pct","sm__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","launch__cache_config","dram__bytes_write.sum")",
      R"("Mbyte","%","%","us","","byte")",
      Row("void ns::softmax<(int)4>(const float *, float *)", "(256, 1, 1)", "(64, 2, 1)",
          R"("1,234.5","62.5","40","12.5","CachePreferNone","n/a")"));
  const auto counted = Import("==PROF== Connected to process 77\nhello, \"world\"\n" + file,
                              Plan({"ns::softmax<4>"}));
  ASSERT_TRUE(counted.has_value()) << counted.error().message();
  const Profile& profile = counted->profile;
  EXPECT_EQ(profile.source, ProfileSource::kNcu);
  EXPECT_EQ(profile.sampled_ratio, 1);
  EXPECT_EQ(profile.Get(metric::kDramReadBytes), 1234.5e6);
  EXPECT_DOUBLE_EQ(profile.Get(metric::kL2HitRatio).value(), 0.625);
  EXPECT_DOUBLE_EQ(profile.Get(metric::kSmUtilisation).value(), 0.4);
  EXPECT_DOUBLE_EQ(counted->seconds.value(), 12.5e-6);
  EXPECT_FALSE(profile.Get(metric::kDramWriteBytes));
  EXPECT_EQ(profile.metrics.size(), 3u);
}

TEST(NcuImport, AddsUpSumsAndWeighsShares) {
  const std::string metrics =
      R"("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","launch__registers_per_thread","lts__t_sector_hit_rate.pct")";
  const std::string units = R"("sector","","%","ns","register/thread","%")";
  const std::string rows =
      Row("first", "(256, 1, 1)", "(64, 2, 1)", R"("100","25","80","3000","32","50")") +
      Row("first", "(256, 1, 1)", "(64, 2, 1)", R"("400","100","80","3000","32","50")") +
      Row("other", "(32, 1, 1)", "(1, 1, 1)", R"("7","7","7","7","7","7")") +
      Row("second", "(256, 1, 1)", "(64, 2, 1)", R"("800","25","20","1000","64","50")");
  const auto counted = Import(File(metrics, units, rows), Plan({"first", "second"}));
  ASSERT_TRUE(counted.has_value()) << counted.error().message();
  const Profile& profile = counted->profile;
  EXPECT_EQ(profile.Get(metric::kGlobalLoadSectors), 1200);
  EXPECT_EQ(profile.Get(metric::kGlobalLoadSectorsPerRequest), 9.6);
  EXPECT_DOUBLE_EQ(profile.Get(metric::kDramUtilisation).value(), 0.65);
  EXPECT_EQ(profile.Get(metric::kRegisters), 32);  // of the longest
  EXPECT_FALSE(profile.Get(metric::kL2HitRatio));  // of how many sectors is not said
  EXPECT_FALSE(profile.Get(metric::kGlobalStoreSectors));
}

TEST(NcuImport, CountsAtomicsOnlyWithThoseWhoseResultNobodyReads) {
  const std::string atom = "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum";
  const std::string red = "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum";
  const auto both = Import(File(fmt::format("\"{}\",\"{}\"", atom, red), R"("","")",
                                Row("k", "(256, 1, 1)", "(64, 2, 1)", R"("3","40")")),
                           Plan({"k"}));
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->profile.Get(metric::kGlobalAtomicRequests), 43);
  const auto one = Import(
      File(fmt::format("\"{}\"", atom), R"("")", Row("k", "(256, 1, 1)", "(64, 2, 1)", R"("3")")),
      Plan({"k"}));
  ASSERT_TRUE(one.has_value());
  EXPECT_FALSE(one->profile.Get(metric::kGlobalAtomicRequests));
}

TEST(NcuImport, SeveralLaunchesWithoutDurationsHaveNoShares) {
  const std::string rows = Row("k", "(256, 1, 1)", "(64, 2, 1)", R"("80","32")") +
                           Row("k", "(256, 1, 1)", "(64, 2, 1)", R"("20","64")");
  const std::string file =
      File(R"("dram__throughput.avg.pct_of_peak_sustained_elapsed","launch__registers_per_thread")",
           R"("%","register/thread")", rows);
  const auto two = Import(file, Plan({"k", "k"}));
  ASSERT_TRUE(two.has_value());
  EXPECT_TRUE(two->profile.metrics.empty());
  const auto last = Import(file, Plan({"k"}));
  ASSERT_TRUE(last.has_value());
  EXPECT_DOUBLE_EQ(last->profile.Get(metric::kDramUtilisation).value(), 0.2);
  EXPECT_EQ(last->profile.Get(metric::kRegisters), 64);
}

TEST(NcuImport, SaysWhatIsThereInsteadOfThePlansLaunches) {
  const std::string file = File(R"("dram__bytes_read.sum")", R"("byte")",
                                Row("k", "(256, 1, 1)", "(64, 2, 1)", R"("3")"));
  EXPECT_THAT(ErrorOf(file, Plan({"other"})), HasSubstr("c.csv: the launch of the first timed"));
  EXPECT_THAT(ErrorOf(file, Plan({"other"})), HasSubstr("it has launches of k"));
  EXPECT_THAT(ErrorOf(file, Plan({"k"}, {128, 1, 1})),
              HasSubstr("(k with grid 128x1x1, block 256x1x1); line 3: k with grid 64x2x1"));
  EXPECT_THAT(ErrorOf(file, Plan({"k", "k"})), HasSubstr("the 2 launches"));
}

TEST(NcuImport, RefusesWhatIsNoRawPage) {
  const LaunchPlan plan = Plan({"k"});
  EXPECT_THAT(ErrorOf("", plan), HasSubstr("c.csv: no launches"));
  EXPECT_THAT(ErrorOf("some text\n", plan), HasSubstr("c.csv: no launches"));
  EXPECT_THAT(ErrorOf(R"("ID","Kernel Name","Section Name","Metric Name","Metric Value")", plan),
              HasSubstr("c.csv:1: this is another page of ncu; export it with --page raw"));
  const std::string row = Row("k", "(256, 1, 1)", "(64, 2, 1)", R"("3")");
  const std::string file = File(R"("dram__bytes_read.sum")", R"("byte")", row);
  EXPECT_THAT(ErrorOf(std::string(kColumns) + ",\"dram__bytes_read.sum\"\n" + row, plan),
              HasSubstr("c.csv:2: the line of the units is missing"));
  EXPECT_THAT(ErrorOf(file.substr(0, file.size() - 12), plan), HasSubstr("c.csv:3: "));
  EXPECT_THAT(ErrorOf(File(R"("dram__bytes_read.sum")", R"("byte")",
                           Row("k", "(256, 1, 1)", "(64, 2, 1)", R"("3x")")),
                      plan),
              HasSubstr("c.csv:3: \"3x\" is no value of dram__bytes_read.sum"));
  EXPECT_THAT(ErrorOf(File(R"("dram__bytes_read.sum")", R"("byte")",
                           Row("k", "256 threads", "(64, 2, 1)", R"("3")")),
                      plan),
              HasSubstr("no value of Block Size"));
}

TEST(NcuImport, ReadsNoNumberIntoACut) {
  const std::string file = File(R"("dram__bytes_read.sum")", R"("byte")",
                                Row("k", "(256, 1, 1)", "(64, 2, 1)", R"("3")"));
  for (size_t size = 0; size < file.size() - 1; ++size) {
    EXPECT_FALSE(Import(file.substr(0, size), Plan({"k"})).has_value()) << size;
  }
}

TEST(NcuImport, AsksForEveryMetricThatItReads) {
  const std::string list = NcuMetricList();
  for (const char* name :
       {"gpu__time_duration.sum", metric::kDramReadBytes,
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
        "sm__maximum_warps_per_active_cycle_pct", "lts__t_sector_hit_rate.pct"}) {
    EXPECT_THAT(list, HasSubstr(name));
  }
  EXPECT_THAT(list, Not(HasSubstr("emulator__")));
}

}  // namespace
}  // namespace optiml
