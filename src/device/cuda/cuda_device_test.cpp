// The GPU as a device, with the real worker process and a driver's library of our own
// (testing/fake_driver.cpp): what happens when kernels are wrong, hang or crash, and when there is
// no GPU to be had. tests/gpu has the same with a real one.
#include "device/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "device/cuda/testing/fake_candidate.h"

namespace optiml {
namespace {

using testing::HasSubstr;
using Milliseconds = std::chrono::milliseconds;

template <typename T>
Result<void> Failure(const Result<T>& result) {
  return result ? Result<void>() : Result<void>(result.error());
}

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
  const Result<RunOutcome> outcome = device->Run(Candidate("copy").request);
  ASSERT_TRUE(outcome) << outcome.error().message();
  EXPECT_EQ(outcome->status, RunStatus::kCompleted);  // the candidate is not to blame
  EXPECT_EQ(outcome->buffers[1], Ints(100));
  EXPECT_EQ(device->workers_started(), 2);
}

TEST(CudaDevice, WorkersThatAreKilledAgainAndAgainAreAnErrorThatMayPass) {
  const auto device = Opened();
  const Result<RunOutcome> outcome = device->Run(Candidate("killed").request);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(outcome.error().message(), HasSubstr("signal 9"));
  EXPECT_EQ(device->workers_started(), 2);
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
                        Case{Options("hidden"), "CUDA_ERROR_NO_DEVICE"},
                        Case{Options("mismatch"), "of different versions"},
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

// It was free when it was asked for, and taken by then.
TEST(CudaDevice, MemoryThatOthersTookIsAnError) {
  const auto device = Opened(Options("taken"));
  for (const Result<void>& done : {Failure(device->Run(Candidate("copy").request)),
                                   Failure(device->Time(Candidate("copy").request))}) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), ErrorCode::kUnavailable);
    EXPECT_THAT(done.error().message(), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
    EXPECT_THAT(done.error().message(), testing::Not(HasSubstr("\n")));
  }
}

// Both versions, and what to do.
TEST(CudaDevice, AToolkitThatIsNewerThanTheDriverIsNamed) {
  for (const char* fake : {"old", "old-image"}) {
    const auto device = Opened(Options(fake));
    Candidate copy("copy");
    copy.artifact.toolchain = "NVRTC 13.0";
    const Result<RunOutcome> outcome = device->Run(copy.request);
    ASSERT_FALSE(outcome) << fake;
    EXPECT_EQ(outcome.error().code(), ErrorCode::kUnavailable);
    EXPECT_THAT(outcome.error().message(),
                HasSubstr("NVRTC 13.0 made it and the driver is for CUDA 12.4: update the driver"));
    EXPECT_THAT(outcome.error().message(), HasSubstr("OPTIML_CUDA_HOME"));
    EXPECT_EQ(device->workers_started(), 1);  // it is none the worse for it
  }
}

// Its own facts, not those of the whole GPU.
TEST(CudaDevice, ASliceHasFewerMultiprocessors) {
  const auto device = Opened(Options("slice"));
  EXPECT_EQ(device->Info().multiprocessors, 1);
  EXPECT_EQ(device->Info().l2_bytes, 8192U);
  EXPECT_EQ(device->Run(Candidate("copy").request)->status, RunStatus::kCompleted);
  EXPECT_EQ(device->Time(Candidate("copy").request)->status, RunStatus::kCompleted);
}

TEST(CudaDevice, AGpuThatIsLostInTheMiddleIsAnErrorThatMayPass) {
  CudaOptions options = Options("lost-later");
  const std::string state = testing::TempDir() + "lost_later_" + std::to_string(getpid());
  std::filesystem::remove(state);
  options.worker.environment["FAKE_DRIVER_STATE"] = state;
  const auto device = Opened(options);
  kill(device->worker_pid(), SIGKILL);
  for (int i = 0; i < 2; ++i) {
    const Result<TimeOutcome> after = device->Time(Candidate("copy").request);
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().code(), ErrorCode::kUnavailable);
    EXPECT_THAT(after.error().message(), HasSubstr("CUDA_ERROR_DEVICE_UNAVAILABLE"));
  }
  std::filesystem::remove(state);
  EXPECT_TRUE(device->Time(Candidate("copy").request));  // it is back
  std::filesystem::remove(state);
}

TEST(CudaDevice, StoppedBeforeItBeganItAsksForNothing) {
  std::atomic<bool> stop{true};
  CudaOptions options = Options();
  options.worker.stop = &stop;
  const auto made = CudaDevice::Make(options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::kInterrupted);
}

TEST(CudaDevice, ClocksStandBesideATime) {
  CudaOptions options = Options();
  options.nvml_library = OPTIML_FAKE_NVML;
  setenv("FAKE_NVML", "throttled", 1);
  const auto device = Opened(options);
  const Result<TimeOutcome> time = device->Time(Candidate("copy").request);
  unsetenv("FAKE_NVML");
  ASSERT_TRUE(time) << time.error().message();
  ASSERT_TRUE(time->conditions);
  EXPECT_EQ(time->conditions->before.sm_hz, 1980e6);
  EXPECT_EQ(time->conditions->after.temperature_celsius, 41);
  EXPECT_THAT(ThrottlingOf(*time->conditions), testing::Contains("power cap"));
  EXPECT_THAT(time->timing.clock, HasSubstr("SM clock 1980 MHz before, 1980 MHz after"));
  EXPECT_EQ(device->DriverVersion(), "580.65.06");
}

TEST(CudaDevice, WithoutNvmlATimeIsATime) {
  const auto device = Opened();
  const Result<TimeOutcome> time = device->Time(Candidate("copy").request);
  ASSERT_TRUE(time) << time.error().message();
  EXPECT_EQ(time->status, RunStatus::kCompleted);
  EXPECT_FALSE(time->conditions);
}

TEST(CudaDevice, MeasuredPeaksAreToldBesideThePinRate) {
  const auto device = Opened();
  EXPECT_FALSE(device->Info().peaks);
  MeasuredPeaks peaks;
  peaks.dram_read_bytes_per_s = 100e9;
  device->UsePeaks(peaks);
  EXPECT_EQ(device->Info().peaks->dram_bytes_per_s(), 100e9);
  EXPECT_NEAR(device->Info().dram_bytes_per_s, 128e9, 1);
}

TEST(CudaDevice, WhatAWorkersStartTakesIsTold) {
  const auto device = Opened();
  std::vector<std::string> names;
  for (const cuda::Phase& phase : device->facts().phases) {
    names.push_back(phase.name);
    EXPECT_GE(phase.seconds, 0);
  }
  EXPECT_THAT(names,
              testing::ElementsAre("driver", "context", "stream and memory", "our own kernels"));
  EXPECT_EQ(device->facts().uuid, "00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(device->facts().pci_bus_id, "0000:3B:00.0");
  EXPECT_EQ(device->facts().driver_version, 13000);
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

TEST(CudaDevice, OutputsThatWereJudgedAreNotBroughtAgain) {
  const auto device = Opened();
  std::map<size_t, std::vector<OutputsDigest>> seen;
  const auto time = [&](const std::string& kernel, bool knows) {
    Candidate candidate(kernel);
    candidate.request.more_passes.push_back({Candidate::Contents(500)});
    std::map<size_t, std::vector<OutputsDigest>> now;
    candidate.request.knows_outputs = [&](size_t pass, const OutputsDigest& digest) {
      now[pass].push_back(digest);
      return knows && std::ranges::count(seen[pass], digest) > 0;
    };
    Result<TimeOutcome> timed = device->Time(candidate.request);
    EXPECT_TRUE(timed) << timed.error().message();
    EXPECT_EQ(now.size(), 2U);
    seen = now;
    return *std::move(timed);
  };
  const TimeOutcome first = time("copy", false);
  EXPECT_EQ(first.outputs[0][1], Ints(100));
  EXPECT_EQ(first.outputs[1][1], Ints(500));
  ASSERT_TRUE(first.digests[0] && first.digests[1]);
  EXPECT_NE(*first.digests[0], *first.digests[1]);
  EXPECT_FALSE(first.other_digests[0]);

  const TimeOutcome again = time("copy", true);
  EXPECT_TRUE(again.outputs[0].empty());
  EXPECT_TRUE(again.outputs[1].empty());
  EXPECT_EQ(again.digests, first.digests);
  EXPECT_GT(again.timing.median_s, 0);

  const TimeOutcome other = time("twice", true);  // of the same inputs
  EXPECT_EQ(IntAt(other.outputs[0][1], 3), 206);
  EXPECT_NE(other.digests, first.digests);
}

TEST(CudaDevice, ACopyThatDiffersIsAskedAboutApart) {
  const auto device = Opened();
  Candidate candidate("first-only");
  int asked = 0;
  candidate.request.knows_outputs = [&](size_t, const OutputsDigest&) { return asked++ == 0; };
  const Result<TimeOutcome> timed = device->Time(candidate.request);
  ASSERT_TRUE(timed) << timed.error().message();
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(timed->outputs[0].empty());
  ASSERT_FALSE(timed->other_outputs[0].empty());
  EXPECT_EQ(IntAt(timed->other_outputs[0][1], 1), static_cast<int>(0xA5A5A5A5));
  ASSERT_TRUE(timed->other_digests[0]);
  EXPECT_NE(timed->other_digests[0], timed->digests[0]);
}

// What is compared is what samples left, also where the other kernel wrote over it meanwhile.
TEST(CudaDevice, AKernelThatDoesItsWorkOnlyWhenNobodyMeasuresIsFound) {
  const auto device = Opened();
  Candidate lazy("sampled");
  const Candidate copy("copy");
  for (const RunRequest* incumbent : {static_cast<const RunRequest*>(nullptr), &copy.request}) {
    lazy.request.incumbent = incumbent;
    const Result<TimeOutcome> timed = device->Time(lazy.request);
    ASSERT_TRUE(timed) << timed.error().message();
    EXPECT_EQ(IntAt(timed->outputs[0][1], 3), static_cast<int>(0xA5A5A5A5));
  }
}

TEST(CudaDevice, KernelsOfEqualBuffersAreTimedInTheSameMemory) {
  const auto device = Opened();
  Candidate twice("twice");
  Candidate copy("copy");
  twice.request.incumbent = &copy.request;
  const Result<TimeOutcome> timed = device->Time(twice.request);
  ASSERT_TRUE(timed) << timed.error().message();
  ASSERT_EQ(timed->status, RunStatus::kCompleted) << timed->reason;
  // Each wrote over what the other had left, and is judged by its own results.
  EXPECT_EQ(IntAt(timed->outputs[0][1], 3), 206);
  EXPECT_EQ(timed->differing_copies, 0);
  EXPECT_TRUE(timed->findings.empty());
  EXPECT_LT(timed->gain->ratio, 1);
}

}  // namespace
}  // namespace optiml
