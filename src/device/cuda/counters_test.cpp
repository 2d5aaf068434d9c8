// Hardware counters through the device, with the real worker process, a driver's library and a
// CUPTI of our own (testing/): the order of the profiler's calls, what the metrics are called, and
// what becomes of machines without permission. tests/gpu has the same with a real one.
#include "device/cuda/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "base/file_system.h"
#include "core/hardware_metrics.h"
#include "device/cuda/counted_file.h"
#include "device/cuda/testing/fake_candidate.h"
#include "device/launch_metrics.h"

namespace optiml {
namespace {

using testing::HasSubstr;
using testing::Not;

CudaOptions Counting(const std::string& fake = "",
                     const std::vector<std::string>& libraries = {OPTIML_FAKE_CUPTI}) {
  CudaOptions options = Options();
  options.worker.environment["FAKE_CUPTI_DRIVER"] = OPTIML_FAKE_DRIVER;
  if (!fake.empty()) {
    options.worker.environment["FAKE_CUPTI"] = fake;
  }
  options.find_cupti = [libraries] { return libraries; };
  return options;
}

std::string MapsOf(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/maps");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string WhyNot(const CudaOptions& options) {
  const auto device = Opened(options);
  const Candidate copy("copy");
  const Result<Profile> profile = device->Counters(copy.request);
  if (profile) {
    return "there are counters";
  }
  EXPECT_EQ(profile.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(device->TryCounters().error().message(), profile.error().message());
  EXPECT_EQ(device->counters().workers_started(), options.find_cupti().empty() ? 0 : 1)
      << "it is asked once";
  // Nothing else needs them.
  EXPECT_EQ(device->Run(copy.request)->status, RunStatus::kCompleted);
  return profile.error().message();
}

double Length(const std::string& name) {
  return static_cast<double>(name.size());
}

TEST(Counters, AreThoseOfThePlanWithTheirUnitsAndTheirSource) {
  const auto device = Opened(Counting());
  EXPECT_TRUE(device->Info().capabilities.counts);
  Candidate copy("copy");
  copy.artifact.kernels[0].registers = 40;
  copy.artifact.kernels[0].static_shared_bytes = 1000;
  auto& launch = std::get<KernelLaunch>(copy.plan.steps[0]);
  launch.grid = {66, 1, 1};
  launch.block = {256, 1, 1};
  launch.dynamic_shared_bytes = 24;
  const Result<Profile> profile = device->Counters(copy.request);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->source, ProfileSource::kCupti);
  EXPECT_EQ(profile->sampled_ratio, 1);
  const auto expect = [&](const char* id, double value, const char* unit) {
    ASSERT_TRUE(profile->metrics.contains(id)) << id;
    EXPECT_DOUBLE_EQ(profile->metrics.at(id).value, value) << id;
    EXPECT_EQ(profile->metrics.at(id).unit, unit) << id;
  };
  expect("smsp__inst_executed.sum", Length("smsp__inst_executed.sum"), "inst");
  expect("dram__bytes_read.sum", Length("dram__bytes_read.sum"), "byte");
  expect("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
         Length("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), "sector");
  // Two of the profiler's are one of ours.
  expect("l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
         Length("l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum") +
             Length("l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"),
         "request");
  // Percent are shares here.
  expect("dram__throughput.avg.pct_of_peak_sustained_elapsed",
         Length("dram__throughput.avg.pct_of_peak_sustained_elapsed") / 100, "ratio");
  expect("lts__t_sector_hit_rate.ratio", Length("lts__t_sector_hit_rate.pct") / 100, "ratio");
  expect("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
         Length("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"), "warp");
  expect("smsp__thread_inst_executed_per_inst_executed.ratio",
         Length("smsp__thread_inst_executed.sum") / Length("smsp__inst_executed.sum"), "ratio");
  expect("profiler__replayer_passes", 3, "pass");
  // What the launch says of itself: 8 warps a block of 64, 4 multiprocessors.
  expect("launch__registers_per_thread", 40, "register");
  expect("launch__shared_mem_per_block", 1024, "byte");
  expect("launch__grid_size", 66, "block");
  expect("sm__maximum_warps_per_active_cycle.ratio", 48.0 / 64, "ratio");  // by registers
  expect("launch__waves_per_multiprocessor", 66.0 / 4 / 6, "ratio");
}

// The second launch's counters are twice the first one's in the fake.
TEST(Counters, OfSeveralLaunchesAreAddedUpOrWeighted) {
  const auto device = Opened(Counting());
  Candidate copy("copy");
  copy.plan.steps.push_back(copy.plan.steps[0]);
  std::get<KernelLaunch>(copy.plan.steps[1]).grid = {7, 1, 1};
  const Result<Profile> profile = device->Counters(copy.request);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->Get(metric::kWarpInstructions), 3 * Length(metric::kWarpInstructions));
  // One third of the time at 1, two thirds at 2.
  EXPECT_DOUBLE_EQ(*profile->Get(metric::kDramUtilisation),
                   Length(metric::kDramUtilisation) * (1 + 2 * 2) / 3 / 100);
  EXPECT_DOUBLE_EQ(*profile->Get(metric::kStallWait), Length(metric::kStallWait) * (1 + 4) / 3);
  EXPECT_EQ(profile->Get(metric::kBlocks), 7);  // of the longest
}

TEST(Counters, WhereLaunchesAreNotCountedApartThePlanIsOneRange) {
  const auto device = Opened(Counting("one-range"));
  Candidate copy("copy");
  copy.plan.steps.push_back(copy.plan.steps[0]);
  const Result<Profile> profile = device->Counters(copy.request);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->Get(metric::kWarpInstructions), Length(metric::kWarpInstructions));
  EXPECT_FALSE(profile->Get(metric::kBlocks)) << "which launch is the longest is not known";
}

TEST(Counters, AMetricThatTheGpuDoesNotHaveIsAbsentAndTheOthersAreThere) {
  const auto device = Opened(Counting("no-fma"));
  const Result<Profile> profile = device->Counters(Candidate("copy").request);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_FALSE(profile->Get(metric::kFfmaInstructions));
  EXPECT_TRUE(profile->Get(metric::kFaddInstructions));
  EXPECT_THAT(device->TryCounters()->unknown,
              testing::ElementsAre("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"));
}

TEST(Counters, AValueThatIsNoNumberIsAbsent) {
  const auto device = Opened(Counting("nan"));
  const Result<Profile> profile = device->Counters(Candidate("copy").request);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_FALSE(profile->Get(metric::kThreadInstructions));
  EXPECT_TRUE(profile->Get(metric::kWarpInstructions));
}

TEST(Counters, TheWorkerThatTimesHasNoProfiler) {
  const auto device = Opened(Counting());
  const Candidate copy("copy");
  ASSERT_EQ(device->Run(copy.request)->status, RunStatus::kCompleted);
  EXPECT_EQ(device->counters().worker_pid(), -1) << "it is started when it is asked";
  ASSERT_TRUE(device->Counters(copy.request));
  ASSERT_EQ(device->Time(copy.request)->status, RunStatus::kCompleted);
  const std::string timing = MapsOf(device->worker_pid());
  const std::string counting = MapsOf(device->counters().worker_pid());
  EXPECT_NE(device->worker_pid(), device->counters().worker_pid());
  EXPECT_THAT(timing, HasSubstr("fake_driver"));
  EXPECT_THAT(timing, Not(HasSubstr("cupti")));
  EXPECT_THAT(counting, HasSubstr("fake_cupti"));
}

TEST(Counters, WithoutPermissionTheReasonNamesBothOfItsNames) {
  const std::string why = WhyNot(Counting("denied"));
  EXPECT_THAT(why, HasSubstr("not permitted"));
  EXPECT_THAT(why, HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_THAT(why, HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
}

TEST(Counters, WithoutCuptiTheReasonSaysWhatIsMissing) {
  EXPECT_THAT(WhyNot(Counting("", {"/no/such/libcupti.so"})), HasSubstr("CUPTI (libcupti.so) was"));
  EXPECT_THAT(WhyNot(Counting("", {OPTIML_FAKE_CUPTI_OLD})), HasSubstr("older than CUPTI 12.6"));
  EXPECT_THAT(WhyNot(Counting("chip")), HasSubstr("FK100"));
  EXPECT_THAT(WhyNot(Counting("zero")), HasSubstr("are 0"));
  EXPECT_THAT(WhyNot(Counting("never-done")), HasSubstr("not done after"));
  EXPECT_FALSE(Opened(Options())->Info().capabilities.counts);
}

TEST(Counters, AnotherProcessThatCountsIsWaitedFor) {
  const auto device = Opened(Counting("busy"));
  const Result<Profile> profile = device->Counters(Candidate("copy").request);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_FALSE(profile->metrics.empty());
}

TEST(Counters, AnOldCuptiBeforeANewOneIsPassedOver) {
  const auto device = Opened(Counting("", {OPTIML_FAKE_CUPTI_OLD, OPTIML_FAKE_CUPTI}));
  const Result<cuda::CounterFacts> facts = device->TryCounters();
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->library, OPTIML_FAKE_CUPTI);
  EXPECT_EQ(facts->passes, 3);
  EXPECT_EQ(facts->metrics, CheapLaunchCounters());
}

TEST(Counters, AKernelThatFaultsOrHangsCostsOneWorkerAndHasNoCounters) {
  for (const char* kernel : {"fault", "hang", "crash"}) {
    const auto device = Opened(Counting());
    const pid_t timing = device->worker_pid();
    Candidate bad(kernel);
    bad.request.time_limit = std::chrono::milliseconds(200);
    const Result<Profile> none = device->Counters(bad.request);
    ASSERT_TRUE(none) << kernel << ": " << none.error().message();
    EXPECT_TRUE(none->metrics.empty()) << kernel;
    const Result<Profile> next = device->Counters(Candidate("copy").request);
    ASSERT_TRUE(next) << kernel << ": " << next.error().message();
    EXPECT_FALSE(next->metrics.empty()) << kernel;
    EXPECT_EQ(device->counters().workers_started(), 2) << kernel;
    EXPECT_EQ(device->worker_pid(), timing) << kernel << ": the one that times was not touched";
  }
}

TEST(Counters, ARefusedLaunchHasNoCountersAndCostsNothing) {
  const auto device = Opened(Counting());
  const Result<Profile> none = device->Counters(Candidate("refuse").request);
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_TRUE(none->metrics.empty());
  ASSERT_TRUE(device->Counters(Candidate("copy").request));
  EXPECT_EQ(device->counters().workers_started(), 1);
}

TEST(Counters, WorkersThatDieOneAfterTheOtherAreTheMachinesFault) {
  const auto device = Opened(Counting());
  const Candidate crash("crash");
  EXPECT_TRUE(device->Counters(crash.request));
  EXPECT_TRUE(device->Counters(crash.request));
  const Result<Profile> third = device->Counters(crash.request);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(third.error().message(), HasSubstr("3 times in a row nothing could be counted"));
  EXPECT_FALSE(device->Counters(Candidate("copy").request));
}

// What the kernel writes is poison again before each pass, or it would do nothing in the second.
TEST(Counters, EachPassFindsWhatTheFirstOneFound) {
  const auto device = Opened(Counting());
  const Result<Profile> lazy = device->Counters(Candidate("if-poisoned").request);
  ASSERT_TRUE(lazy);
  EXPECT_FALSE(lazy->metrics.empty());
}

TEST(Counters, NoWorkerIsLeftBehind) {
  pid_t worker = -1;
  {
    const auto device = Opened(Counting());
    ASSERT_TRUE(device->TryCounters());
    worker = device->counters().worker_pid();
    ASSERT_GT(worker, 0);
  }
  EXPECT_NE(kill(worker, 0), 0);
}

TEST(CountedFile, HoldsWhatWasCounted) {
  const auto folder = TemporaryDirectory::Create("counted");
  ASSERT_TRUE(folder);
  CudaOptions options = Counting();
  options.keep_counted = folder->path() / "copy.counted";
  const auto device = Opened(options);
  ASSERT_TRUE(device->Counters(Candidate("copy").request));
  const Result<void> again = cuda::RunCounted({options.keep_counted}, OPTIML_FAKE_DRIVER);
  EXPECT_TRUE(again) << again.error().message();
  ASSERT_TRUE(WriteFileAtomically(folder->path() / "other", "something else"));
  const Result<void> other = cuda::RunCounted({folder->path() / "other"}, OPTIML_FAKE_DRIVER);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::kParse);
  EXPECT_THAT(other.error().message(), HasSubstr("other: not a plan that was counted"));
}

TEST(LaunchMetrics, TheCheapOnesAreAmongAll) {
  const std::vector<std::string> all = AllLaunchCounters();
  const std::vector<std::string> cheap = CheapLaunchCounters();
  EXPECT_EQ(all.size(), cheap.size() + 2);
  for (const std::string& name : cheap) {
    EXPECT_THAT(all, testing::Contains(name));
  }
}

}  // namespace
}  // namespace optiml
