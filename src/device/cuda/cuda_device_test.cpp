// The GPU as a device, with the real worker process and a driver's library of our own
// (testing/fake_driver.cpp): what happens when kernels are wrong, hang or crash, and when there is
// no GPU to be had. tests/gpu has the same with a real one.
#include "device/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "device/cuda/testing/fake_candidate.h"

namespace optiml {
namespace {

using testing::HasSubstr;
using Milliseconds = std::chrono::milliseconds;

TEST(CudaDevice, TellsWhatItIs) {
  const auto device = Opened();
  EXPECT_EQ(device->Info().name, "Fake 9000");
  EXPECT_EQ(device->Info().architecture, "sm_90");
  EXPECT_TRUE(device->Info().capabilities.measures_time);
  EXPECT_EQ(device->Info().prediction_error_factor, 1);
  // 1 GHz, two transfers a clock, 512 bits.
  EXPECT_NEAR(device->Info().dram_bytes_per_s, 128e9, 1);
  EXPECT_EQ(Opened(Options("", 1))->Info().architecture, "sm_80");
}

TEST(CudaDevice, LanesOfAnSmFollowItsGeneration) {
  EXPECT_NEAR(Fp32FlopsPerSecond(90, 132, 1.98e9), 66.9e12, 0.1e12);
  EXPECT_NEAR(Fp32FlopsPerSecond(80, 108, 1.41e9), 19.5e12, 0.1e12);
}

TEST(CudaDevice, RunsAPlanAndReturnsEveryBuffer) {
  const auto device = Opened();
  const Candidate copy("copy");
  const Result<RunOutcome> outcome = device->Run(copy.request);
  ASSERT_TRUE(outcome) << outcome.error().message();
  ASSERT_EQ(outcome->status, RunStatus::kCompleted) << outcome->reason;
  EXPECT_TRUE(outcome->findings.empty());
  ASSERT_EQ(outcome->buffers.size(), 2U);
  EXPECT_EQ(outcome->buffers[0], Ints(100));
  EXPECT_EQ(outcome->buffers[1], Ints(100));
}

TEST(CudaDevice, LaterPassesFindTheirOwnContentsInTheSameMemory) {
  const auto device = Opened();
  Candidate once("once");
  once.request.more_passes.push_back({Candidate::Contents(500)});
  const Result<RunOutcome> outcome = device->Run(once.request);
  ASSERT_TRUE(outcome) << outcome.error().message();
  EXPECT_EQ(outcome->buffers[0], Ints(500));
  // What the second call left undone is poison, not the first call's result.
  EXPECT_EQ(IntAt(outcome->buffers[1], 3), static_cast<int>(0xA5A5A5A5));
}

TEST(CudaDevice, AWriteBeyondABufferIsAFinding) {
  const auto device = Opened();
  const Result<RunOutcome> run = device->Run(Candidate("over").request);
  ASSERT_TRUE(run);
  ASSERT_EQ(run->findings.size(), 1U);
  EXPECT_EQ(run->findings[0].kind, "out of bounds");
  const Result<TimeOutcome> time = device->Time(Candidate("over").request);
  ASSERT_TRUE(time);
  EXPECT_FALSE(time->findings.empty());
  // The next candidate has clean guard bands.
  EXPECT_TRUE(device->Run(Candidate("copy").request)->findings.empty());
}

TEST(CudaDevice, AChangedInputOfTheTimedBuffersIsAFinding) {
  const auto device = Opened();
  const Result<TimeOutcome> time = device->Time(Candidate("scribble").request);
  ASSERT_TRUE(time);
  ASSERT_EQ(time->findings.size(), 1U);
  EXPECT_EQ(time->findings[0].kind, "read-only violation");
}

TEST(CudaDevice, AFaultCostsOneCandidateAndAWorker) {
  const auto device = Opened();
  const Result<RunOutcome> fault = device->Run(Candidate("fault").request);
  ASSERT_TRUE(fault) << fault.error().message();
  EXPECT_EQ(fault->status, RunStatus::kFault);
  EXPECT_THAT(fault->reason, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_EQ(device->Run(Candidate("copy").request)->status, RunStatus::kCompleted);
  EXPECT_EQ(device->workers_started(), 2);
}

TEST(CudaDevice, AHangIsEndedAtItsTimeLimit) {
  const auto device = Opened();
  Candidate hang("hang");
  hang.request.time_limit = Milliseconds(200);
  const pid_t worker = device->worker_pid();
  const Result<RunOutcome> outcome = device->Run(hang.request);
  ASSERT_TRUE(outcome) << outcome.error().message();
  EXPECT_EQ(outcome->status, RunStatus::kTimedOut);
  EXPECT_THAT(outcome->reason, HasSubstr("did not end within 0.2 s"));
  EXPECT_NE(kill(worker, 0), 0) << "the hung worker is still there";
  const Result<TimeOutcome> timed = device->Time(hang.request);
  ASSERT_TRUE(timed);
  EXPECT_EQ(timed->status, RunStatus::kTimedOut);
  EXPECT_THAT(timed->reason, HasSubstr("did not end within"));  // the worker's own word
  EXPECT_EQ(device->Run(Candidate("copy").request)->status, RunStatus::kCompleted);
}

TEST(CudaDevice, ACrashOfTheWorkerCostsOneCandidate) {
  const auto device = Opened();
  const Result<RunOutcome> crash = device->Run(Candidate("crash").request);
  ASSERT_TRUE(crash) << crash.error().message();
  EXPECT_EQ(crash->status, RunStatus::kFault);
  EXPECT_THAT(crash->reason, HasSubstr("signal 11"));
  EXPECT_EQ(device->Run(Candidate("copy").request)->status, RunStatus::kCompleted);
}

TEST(CudaDevice, AWorkerThatIsKilledFromOutsideIsReplaced) {
  const auto device = Opened();
  kill(device->worker_pid(), SIGKILL);
  const Result<RunOutcome> lost = device->Run(Candidate("copy").request);
  ASSERT_TRUE(lost) << lost.error().message();
  EXPECT_EQ(lost->status, RunStatus::kFault);
  EXPECT_THAT(lost->reason, HasSubstr("signal 9"));
  EXPECT_EQ(device->Run(Candidate("copy").request)->status, RunStatus::kCompleted);
}

// An answer that comes in two pieces, the second after a while, is one answer.
TEST(WorkerProcess, AnAnswerInPiecesIsReadAsOne) {
  cuda::WorkerOptions options;
  options.program = OPTIML_TEST_WORKER;
  options.arguments = {"--in-pieces"};
  options.driver_library = OPTIML_FAKE_DRIVER;
  cuda::WorkerProcess worker(options);
  const Result<cuda::HelloReply> hello = worker.Start();
  ASSERT_TRUE(hello) << hello.error().message();
  EXPECT_EQ(hello->name, "in pieces");
}

TEST(CudaDevice, ARefusedLaunchNamesLineAndReason) {
  const auto device = Opened();
  const Result<RunOutcome> outcome = device->Run(Candidate("refuse").request);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, RunStatus::kFault);
  EXPECT_THAT(outcome->reason, HasSubstr("line 7: refuse"));
  EXPECT_EQ(device->workers_started(), 1);
}

TEST(CudaDevice, TimesAreMeasuredWithTheirSamples) {
  const auto device = Opened();
  const Result<TimeOutcome> time = device->Time(Candidate("copy").request);
  ASSERT_TRUE(time) << time.error().message();
  ASSERT_EQ(time->status, RunStatus::kCompleted) << time->reason;
  EXPECT_EQ(time->timing.kind, TimingKind::kMeasured);
  EXPECT_GE(time->timing.samples_s.size(), 11U);
  EXPECT_GE(time->timing.median_s, 200e-6);
  EXPECT_LE(time->timing.low_s, time->timing.median_s);
  EXPECT_GE(time->timing.high_s, time->timing.median_s);
  EXPECT_THAT(time->timing.clock, HasSubstr("L2 flushed"));
}

TEST(CudaDevice, OutputsOfTheTimedBuffersComeBackBySet) {
  const auto device = Opened();
  Candidate twice("twice");
  twice.request.more_passes.push_back({Candidate::Contents(500)});
  const Result<TimeOutcome> time = device->Time(twice.request);
  ASSERT_TRUE(time) << time.error().message();
  ASSERT_EQ(time->outputs.size(), 2U);
  EXPECT_TRUE(time->outputs[0][0].empty());  // an input
  EXPECT_EQ(IntAt(time->outputs[0][1], 1), 202);
  EXPECT_EQ(IntAt(time->outputs[1][1], 1), 1002);
  EXPECT_EQ(time->differing_copies, 0);
}

TEST(CudaDevice, WorkThatIsDoneOnceShowsInTheTimedBuffers) {
  const auto device = Opened();
  Candidate once("once");
  once.request.more_passes.push_back({Candidate::Contents(500)});
  const Result<TimeOutcome> time = device->Time(once.request);
  ASSERT_TRUE(time) << time.error().message();
  EXPECT_EQ(IntAt(time->outputs[0][1], 1), static_cast<int>(0xA5A5A5A5));
  EXPECT_EQ(IntAt(time->outputs[1][1], 1), static_cast<int>(0xA5A5A5A5));
}

// The first buffers that it sees are computed, all others left alone.
TEST(CudaDevice, AnotherCopyIsLookedAtWhereCopiesDiffer) {
  const auto device = Opened();
  const Result<TimeOutcome> time = device->Time(Candidate("first-only").request);
  ASSERT_TRUE(time) << time.error().message();
  EXPECT_EQ(IntAt(time->outputs[0][1], 1), 101);
  EXPECT_GT(time->differing_copies, 0);
  ASSERT_FALSE(time->other_outputs[0].empty());
  EXPECT_EQ(IntAt(time->other_outputs[0][1], 1), static_cast<int>(0xA5A5A5A5));
}

// Outputs are poisoned before each sample: what was right already must be computed again.
TEST(CudaDevice, ResultsOfAnEarlierExecutionAreNotThereInTheNext) {
  const auto device = Opened();
  const Candidate copy("copy");
  const Candidate lazy("if-poisoned");
  Candidate candidate = lazy;
  candidate.request.artifact = &candidate.artifact;
  candidate.request.plan = &candidate.plan;
  candidate.request.incumbent = &copy.request;
  const Result<TimeOutcome> time = device->Time(candidate.request);
  ASSERT_TRUE(time) << time.error().message();
  ASSERT_TRUE(time->gain);
  EXPECT_LT(time->gain->ratio, 1.5);  // it had to do the work each time
}

TEST(CudaDevice, TwoPlansAreTimedInTurn) {
  const auto device = Opened();
  Candidate twice("twice");  // takes twice as long
  const Candidate copy("copy");
  twice.request.incumbent = &copy.request;
  const Result<TimeOutcome> time = device->Time(twice.request);
  ASSERT_TRUE(time) << time.error().message();
  ASSERT_TRUE(time->gain);
  EXPECT_LT(time->gain->ratio, 0.9);
  EXPECT_LE(time->gain->low, time->gain->ratio);
  EXPECT_GE(time->gain->high, time->gain->ratio);
}

TEST(CudaDevice, AFaultOfTheIncumbentIsNotTheCandidates) {
  const auto device = Opened();
  Candidate copy("copy");
  const Candidate fault("fault");
  copy.request.incumbent = &fault.request;
  const Result<TimeOutcome> time = device->Time(copy.request);
  ASSERT_TRUE(time);
  EXPECT_THAT(time->reason, HasSubstr("the incumbent"));
}

TEST(CudaDevice, WithoutAGpuTheReasonIsOneLine) {
  struct Case {
    CudaOptions options;
    const char* reason;
  };
  CudaOptions missing = Options();
  missing.worker.driver_library = "/no/such/libcuda.so.1";
  for (const Case& c : {Case{missing, "no NVIDIA driver"}, Case{Options("no-device"), "lists 0"},
                        Case{Options("", 2), "GPU 2 was asked for"},
                        Case{Options("no-context"), "no memory left"}}) {
    const auto made = CudaDevice::Make(c.options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), ErrorCode::kUnavailable);
    EXPECT_THAT(made.error().message(), HasSubstr(c.reason));
    EXPECT_THAT(made.error().message(), testing::Not(HasSubstr("\n")));
  }
}

TEST(CudaDevice, TooLittleMemoryIsAnErrorThatNamesBoth) {
  const auto device = Opened(Options("small"));
  const Result<RunOutcome> outcome = device->Run(Candidate("copy").request);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(outcome.error().message(), HasSubstr("MB of the GPU's memory are needed"));
}

TEST(CudaDevice, StoppingEndsTheWorkerAtOnce) {
  std::atomic<bool> stop{false};
  CudaOptions options = Options();
  options.worker.stop = &stop;
  const auto device = Opened(options);
  stop = true;
  const Result<RunOutcome> outcome = device->Run(Candidate("hang").request);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::kInterrupted);
  EXPECT_EQ(device->worker_pid(), -1);
}

TEST(CudaDevice, TheWorkerSeesNoKeys) {
  setenv("SOME_API_KEY", "secret", 1);
  const auto device = Opened();
  std::ifstream file("/proc/" + std::to_string(device->worker_pid()) + "/environ");
  const std::string environment((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(environment, HasSubstr("PATH="));
  EXPECT_THAT(environment, testing::Not(HasSubstr("SOME_API_KEY")));
}

TEST(CudaDevice, NoWorkerIsLeftBehind) {
  pid_t worker = -1;
  {
    const auto device = Opened();
    worker = device->worker_pid();
    ASSERT_GT(worker, 0);
  }
  EXPECT_NE(kill(worker, 0), 0);
}

}  // namespace
}  // namespace optiml
