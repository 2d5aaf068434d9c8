// Runs on devices that measure: several at a time, and what happens when one is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "optimize/scripted_run.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

// A run on so many devices, each of which takes a while and counts what it does.
struct OnDevices {
  explicit OnDevices(int count, Script script) : run(std::move(script)) {
    run.device.info.capabilities.measures_time = true;
    run.options.in_flight = 6;
    for (int i = 1; i < count; ++i) {
      run.more_devices.push_back(std::make_unique<FakeDevice>());
      run.more_devices.back()->info = run.device.info;
      run.Teach(*run.more_devices.back());
    }
    Slow(run.device, "GPU 0");
    for (size_t i = 0; i < run.more_devices.size(); ++i) {
      Slow(*run.more_devices[i], "GPU " + std::to_string(i + 1));
    }
  }
  void Slow(FakeDevice& device, const std::string& name) {
    device.use.device = name;
    device.on_time = [this, &device,
                      answer = device.on_time](const RunRequest& request) -> Result<TimeOutcome> {
      EXPECT_EQ(device.use.busy_s - std::floor(device.use.busy_s), 0) << "two calls at a time";
      device.use.busy_s += 0.5;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      device.use.busy_s += 0.5;
      device.use.Add("samples", 1);
      return answer(request);
    };
  }
  ScriptedRun run;
};

TEST(SessionDevices, SeveralDevicesMakeTheTreeThatOneMakes) {
  Script script = AIsGood();
  script.edits = {"a", "b", "c", "d", "e"};
  script.rejected = {"d", "a+d"};
  script.same_ptx = {{"b+c", "b"}, {"e", "root"}};
  OnDevices one(1, script);
  OnDevices three(3, script);
  const Result<RunRecord> expected = one.run.Go();
  const Result<RunRecord> record = three.run.Go();
  ASSERT_TRUE(expected) << expected.error().message();
  ASSERT_TRUE(record) << record.error().message();
  ASSERT_EQ(record->nodes.size(), expected->nodes.size());
  for (size_t i = 0; i < record->nodes.size(); ++i) {
    EXPECT_EQ(record->nodes[i].parent, expected->nodes[i].parent) << i;
    EXPECT_EQ(record->nodes[i].edit.rewrite, expected->nodes[i].edit.rewrite) << i;
    EXPECT_EQ(record->nodes[i].duplicate_of, expected->nodes[i].duplicate_of) << i;
    EXPECT_EQ(record->nodes[i].reward.total, expected->nodes[i].reward.total) << i;
  }
  EXPECT_EQ(record->result->best_source, expected->result->best_source);
  // Each had a part; what the search alone took is told, by device.
  ASSERT_EQ(record->result->devices.size(), 3U);
  for (const DeviceUse& use : record->result->devices) {
    EXPECT_GE(use.busy_s, 1) << use.device;
    EXPECT_EQ(use.phases.at(0).seconds, use.busy_s);
  }
  EXPECT_LT(record->result->devices[0].busy_s, three.run.device.use.busy_s);
  EXPECT_EQ(record->result->search_candidates, 12);
}

TEST(SessionDevices, ADeviceThatIsLostEndsTheRunAndLeavesItResumable) {
  OnDevices two(2, AIsGood());
  two.run.more_devices[0]->on_time = [](const RunRequest&) -> Result<TimeOutcome> {
    return Error(ErrorCode::kUnavailable, "GPU 1 has fallen off the bus");
  };
  MemoryStore store(two.run.Header());
  const Result<RunRecord> record = two.run.Go(store);
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().message(), HasSubstr("fallen off"));
  EXPECT_FALSE(store.record.nodes.empty());
}

TEST(SessionDevices, AStopEndsAllDevices) {
  OnDevices two(2, AIsGood());
  two.run.script.on_verify = [&, calls = std::make_shared<std::atomic<int>>(0)] {
    two.run.stop = ++*calls > 4;
  };
  const Result<RunRecord> record = two.run.Go();
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_EQ(record->state, RunState::kInterrupted);
}

// The last thing that a run measures: what is lost there is not "no improvement".
TEST(SessionDevices, ADeviceThatIsLostWhileTheGainIsMeasuredLeavesTheRunResumable) {
  OnDevices one(1, AIsGood());
  bool is_lost = true;
  one.run.device.on_time =
      [&, answer = one.run.device.on_time](const RunRequest& request) -> Result<TimeOutcome> {
    if (request.incumbent != nullptr && is_lost) {
      return Error(ErrorCode::kUnavailable, "the GPU has fallen off the bus");
    }
    return answer(request);
  };
  MemoryStore store(one.run.Header());
  const Result<RunRecord> record = one.run.Go(store);
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().message(), HasSubstr("fallen off"));
  EXPECT_FALSE(store.record.result);
  is_lost = false;
  const Result<RunRecord> resumed = one.run.Go(store);
  ASSERT_TRUE(resumed) << resumed.error().message();
  EXPECT_TRUE(resumed->result->improved) << resumed->result->reason;
}

// Room for one is not room for two: the gain is not known then, and the run ends.
TEST(SessionDevices, TwoThatDoNotFitSideBySideHaveNoGain) {
  OnDevices one(1, AIsGood());
  one.run.device.on_time =
      [answer = one.run.device.on_time](const RunRequest& request) -> Result<TimeOutcome> {
    OPTIML_ASSIGN(TimeOutcome outcome, answer(request));
    if (request.incumbent != nullptr) {
      outcome.status = RunStatus::kUnsupported;
      outcome.reason = "900 MB of the GPU's memory are needed, 500 MB can be had";
    }
    return outcome;
  };
  const Result<RunRecord> record = one.run.Go();
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_FALSE(record->result->improved);
  EXPECT_THAT(record->result->reason, HasSubstr("could not be measured again"));
}

}  // namespace
}  // namespace optiml
