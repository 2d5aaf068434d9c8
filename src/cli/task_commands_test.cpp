// The commands that need no run: init, check, profile, doctor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/fake_toolbox.h"
#include "cli/run_folder.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

TEST(Init, WritesATaskAndSaysWhatIsMissing) {
  CommandLine line;
  line.Write("lone/kernel.cu", line.Read("copy/kernel.cu"));
  EXPECT_EQ(line.Run({"init", "lone/kernel.cu"}), kExitDone) << line.err.str();
  EXPECT_THAT(line.Read("lone/task.toml"), HasSubstr("[args]"));
  EXPECT_THAT(line.out.str(), HasSubstr("left to fill in:"));
  EXPECT_EQ(line.Run({"init", "lone/kernel.cu"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("--force replaces it"));
  EXPECT_EQ(line.Run({"init", "lone/kernel.cu", "-o", "-"}), kExitDone);
  EXPECT_EQ(line.out.str(), line.Read("lone/task.toml"));
}

TEST(Init, CompleteFlagsGiveATaskThatLoads) {
  CommandLine line;
  line.Write("lone/kernel.cu", line.Read("copy/kernel.cu"));
  EXPECT_EQ(line.Run({"init", "lone/kernel.cu", "--timed", "n=4096", "--checked", "n=33", "--arg",
                      "x=f32[n]:in:normal", "--arg", "y=f32[n]:out"}),
            kExitDone)
      << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("nothing is left to fill in"));
  EXPECT_TRUE(LoadTask(line.Path("lone"))) << LoadTask(line.Path("lone")).error().message();
}

TEST(Init, WhatIsLeftOpenDoesNotLoad) {
  CommandLine line;
  line.Write("lone/kernel.cu", line.Read("copy/kernel.cu"));
  line.tools.y_role.reset();
  EXPECT_EQ(line.Run({"init", "lone/kernel.cu"}), kExitDone) << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("y: no role"));
  EXPECT_EQ(line.Run({"check", "lone"}), kExitBadUse);
  EXPECT_THAT(line.err.str(),
              HasSubstr("task.toml:9: sizes.timed.n is not filled in yet: a whole"));
  EXPECT_EQ(line.Run({"init", "lone/kernel.cu", "--force", "--timed", "n=4"}), kExitDone);
  EXPECT_EQ(line.Run({"check", "lone"}), kExitBadUse);
  EXPECT_THAT(line.err.str(),
              HasSubstr("task.toml:13: args.y.role is not filled in yet: in, out, inout or"));
}

TEST(Init, RolesAndShapesComeFromTheKernels) {
  const KernelSource source(R"(
__global__ void k(const float* x, float* y, float* sums, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  for (int c = 0; c < cols; ++c) y[r * cols + c] = 2 * x[r * cols + c];
  sums[r] += 1;
}
extern "C" void f(float* x, float* y, float* sums, int rows, int cols) {
  k<<<rows, 1>>>(x, y, sums, rows, cols);
}
)",
                            "f", "kernel.cu");
  const auto facts = MakeToolbox()->LauncherFacts(source, {});
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ((*facts)[0].role, ArgRole::kIn);
  EXPECT_EQ((*facts)[1].role, ArgRole::kOut);
  EXPECT_EQ((*facts)[2].role, ArgRole::kInOut);
  const std::vector<std::string> matrix = {"rows", "cols"};
  EXPECT_EQ((*facts)[0].shape, matrix);
  EXPECT_EQ((*facts)[2].shape, std::vector<std::string>{"rows"});
  const auto task = InferTask("kernel.cu", source.text(), "f", *facts, {});
  ASSERT_TRUE(task);
  EXPECT_THAT(task->toml,
              HasSubstr(R"(y = { dtype = "f32", shape = ["rows", "cols"], role = "out")"));
  EXPECT_THAT(task->toml,
              HasSubstr("role = \"inout\" }   # shape from the kernel's indices; read "));
}

TEST(Check, ALoneSourceHasTheRolesOfItsKernels) {
  CommandLine line;
  line.Write("kernel.cu", line.Read("copy/kernel.cu"));
  EXPECT_EQ(line.Run({"check", "kernel.cu", "--timed", "n=33"}), kExitDone) << line.err.str();
  line.tools.y_role.reset();
  EXPECT_EQ(line.Run({"check", "kernel.cu", "--timed", "n=33"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("y: no role"));
}

TEST(Check, AcceptsRejectsAndSaysHowToReproduce) {
  CommandLine line;
  EXPECT_EQ(line.Run({"check", "copy"}), kExitDone) << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("accepted: 12 cases passed"));
  line.Write("bad.cu", "// wrong\n");
  EXPECT_EQ(line.Run({"check", "copy", "--kernel", "bad.cu", "--checked", "n=7"}),
            kExitNothingKept);
  EXPECT_THAT(line.out.str(), HasSubstr("bad.cu: rejected at L1: y differs from the reference"));
  EXPECT_THAT(line.out.str(), HasSubstr("y[0, 999] (index 999): expected 0.25"));
  EXPECT_THAT(line.out.str(), HasSubstr("U  never written"));
  EXPECT_THAT(line.out.str(), HasSubstr("optiml check copy --kernel bad.cu --checked n=7"));
  line.Write("broken.cu", "// broken\n");
  EXPECT_EQ(line.Run({"check", "copy", "--kernel", "broken.cu", "--json"}), kExitNothingKept);
  const auto json = nlohmann::json::parse(line.out.str());
  EXPECT_EQ(json["stage"], "build");
  EXPECT_EQ(json["reason"], "broken.cu:3: expected a ';'");
}

TEST(Check, TheTimedShapesAreExecutedUnlessSkipped) {
  CommandLine line;
  line.Write("small.cu", "// small\n");
  EXPECT_EQ(line.Run({"check", "copy", "--kernel", "small.cu"}), kExitNothingKept);
  EXPECT_THAT(line.out.str(), HasSubstr("small.cu: rejected at L2: at the timed n=4096"));
  EXPECT_EQ(line.Run({"check", "copy", "--kernel", "small.cu", "--skip-timed"}), kExitDone);
  line.Write("bad.cu", "// wrong\n");
  EXPECT_EQ(line.Run({"check", "copy", "--kernel", "bad.cu", "--skip-timed"}), kExitNothingKept);
  EXPECT_THAT(line.out.str(), HasSubstr(" --skip-timed\n"));
}

TEST(Check, HostModeIsSaidWithEveryResult) {
  constexpr char kSaid[] = "host mode: the launcher reads device data back to decide";
  CommandLine line;
  line.Write("live.cu", "// reads back\n");
  for (const char* command : {"check", "profile"}) {
    EXPECT_EQ(line.Run({command, "copy", "--kernel", "live.cu"}), kExitDone);
    EXPECT_THAT(line.out.str(), HasSubstr(kSaid)) << command;
    EXPECT_EQ(line.Run({command, "copy", "--kernel", "live.cu", "--json"}), kExitDone);
    EXPECT_THAT(line.out.str(), HasSubstr("\"launcher\": \"host mode\"")) << command;
    EXPECT_THAT(line.out.str(), HasSubstr(std::string("\"guarantees\": \"") + kSaid)) << command;
    EXPECT_EQ(line.Run({command, "copy"}), kExitDone);
    EXPECT_THAT(line.out.str(), ::testing::Not(HasSubstr("host mode"))) << command;
  }
}

TEST(Check, WhatCannotBeTracedIsARejection) {
  CommandLine line;
  line.Write("endless.cu", "// reads back for ever\n");
  for (const char* command : {"check", "profile", "emulate"}) {
    EXPECT_EQ(line.Run({command, "copy", "--kernel", "endless.cu"}), kExitNothingKept) << command;
    EXPECT_THAT(line.out.str(), HasSubstr("rejected at plan: launcher reads back more than"));
  }
}

TEST(Check, ATasksOwnKernelThatGivesNothingToJudgeIsBadInput) {
  CommandLine line;
  for (const std::string what : {"broken", "untraceable"}) {
    line.Write(what + "/task.toml", line.Read("copy/task.toml"));
    line.Write(what + "/kernel.cu", "// " + what + "\n" + line.Read("copy/kernel.cu"));
    for (const char* command : {"check", "profile", "emulate"}) {
      EXPECT_EQ(line.Run({command, what}), kExitBadUse) << command;
      EXPECT_THAT(line.out.str(), HasSubstr("kernel.cu: rejected at ")) << command;
      // A candidate that does so is one that is rejected.
      EXPECT_EQ(line.Run({command, "copy", "--kernel", what + "/kernel.cu"}), kExitNothingKept);
    }
  }
  line.Write("wrong/task.toml", line.Read("copy/task.toml"));
  line.Write("wrong/kernel.cu", "// wrong\n" + line.Read("copy/kernel.cu"));
  EXPECT_EQ(line.Run({"check", "wrong"}), kExitNothingKept);
}

TEST(Check, TheReferenceHearsOfCtrlC) {
  CommandLine line;
  std::string host = line.Read("copy/task.toml");
  host.replace(host.find("kind = \"original\""), 17, "kind = \"host\"\nsource = \"reference.cpp\"");
  line.Write("copy/task.toml", host);
  line.Write("copy/reference.cpp", "int");
  line.Run({"check", "copy"});
  ASSERT_EQ(line.tools.reference_options.size(), 1u);
  EXPECT_EQ(line.tools.reference_options[0].stop, &line.stop);
}

TEST(Check, AKernelOfACorpusHearsOfCtrlC) {
  CommandLine line;
  line.stop = true;
  const auto outcome = MakeToolbox()->RunProgram({"--gtest_list_tests"}, line.env, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::kInterrupted);
}

TEST(Check, AFileWithoutALauncherSaysWhyAndWhere) {
  CommandLine line;
  line.Write("empty.cu", "");
  line.Write("bytes.cu", std::string("abc\n\x01\x02\0zz", 10));
  line.Write("kernel.cu",
             "// a kernel\n__global__ void __launch_bounds__(256)\n    twice(float* x) {}\n");
  for (const auto& [file, message] :
       {std::pair("empty.cu", "empty.cu:1: no launcher and no kernel: the file is empty"),
        std::pair("bytes.cu", "bytes.cu:2: this is no CUDA source"),
        std::pair("kernel.cu",
                  "kernel.cu:3: no launcher of twice: write a host function extern "
                  "\"C\" void NAME(...) that launches it, or describe its launch in "
                  "[launch] of a task.toml (docs/task_format.md)")}) {
    for (const char* command : {"check", "init", "optimize"}) {
      EXPECT_EQ(line.Run({command, file}), kExitBadUse) << command;
      EXPECT_THAT(line.err.str(), HasSubstr(message)) << command;
    }
  }
}

TEST(Check, SaysWhatAReferenceOfTheKernelItselfCannotSay) {
  CommandLine line;
  EXPECT_EQ(line.Run({"check", "copy"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("note: [reference] kind is \"original\": the kernel was "
                                        "compared with itself"));
  line.Write("mine.cu", "// mine\n");
  EXPECT_EQ(line.Run({"check", "copy", "--kernel", "mine.cu"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("compared with the task's own kernel, whose results"));
  EXPECT_EQ(line.Run({"check", "copy", "--json"}), kExitDone);
  EXPECT_THAT(nlohmann::json::parse(line.out.str())["note"], HasSubstr("compared with itself"));
  EXPECT_EQ(line.Run({"check", "copy", "--battery"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("note: [reference] kind is \"original\""));
}

TEST(Check, InterruptedEndsWithItsOwnStatus) {
  CommandLine line;
  line.stop = true;
  for (const auto& command : {std::vector<std::string>{"check", "copy", "--battery"},
                              {"check", "copy"},
                              {"profile", "copy"}}) {
    EXPECT_EQ(line.Run(command), kExitInterrupted) << command[0];
    EXPECT_EQ(line.err.str(), "optiml: interrupted\n");
    EXPECT_EQ(line.out.str(), "");
  }
}

TEST(Check, SizesBeyondTheMemoryAreOneMessage) {
  CommandLine line;
  line.env.memory_bytes = uint64_t{1} << 30;
  EXPECT_EQ(line.Run({"check", "copy"}), kExitDone) << line.err.str();
  for (const char* flag : {"--timed", "--checked"}) {
    EXPECT_EQ(line.Run({"optimize", "copy", flag, "n=100000000", "-o", "run"}), kExitEnvironment);
    EXPECT_THAT(line.err.str(), HasSubstr("n=100000000 has 0.745 GiB of buffers and needs about"));
    EXPECT_THAT(line.err.str(), HasSubstr("1 GiB are free: make the sizes smaller"));
    EXPECT_FALSE(line.Exists("run"));
  }
  // All cases of a checked row are kept.
  EXPECT_EQ(line.Run({"check", "copy", "--check-seeds", "100000000"}), kExitEnvironment);
  EXPECT_THAT(line.err.str(), HasSubstr("GiB are free: make the sizes smaller"));
  line.env.memory_bytes.reset();
  EXPECT_EQ(line.Run({"check", "copy", "--timed", "n=100000000000"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("does not fit in the argument's type i32"));
}

TEST(Check, AnAllocationThatFailsIsOneMessage) {
  CommandLine line;
  line.tools.battery = std::vector<BatteryVerdict>{{"zeros", "rejected", ""}};
  line.tools.throws_bad_alloc = true;
  line.env.memory_bytes = uint64_t{1} << 30;
  EXPECT_EQ(line.Run({"check", "copy", "--battery"}), kExitEnvironment);
  EXPECT_EQ(line.err.str(),
            "optiml: out of memory (1 GiB were free at the start): make the checked and timed "
            "sizes smaller\n");
}

TEST(Check, BatteryPrintsItsTable) {
  CommandLine line;
  EXPECT_EQ(line.Run({"check", "copy", "--battery"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("zeros"));
  line.tools.battery = Error(ErrorCode::kInvalidArgument, "task.toml: accepts zeros");
  EXPECT_EQ(line.Run({"check", "copy", "--battery"}), kExitBadUse);
}

TEST(Check, StopAfterPrintsWhatTheStageYields) {
  CommandLine line;
  EXPECT_EQ(line.Run({"check", "copy", "--stop-after", "parse"}), kExitDone);
  EXPECT_EQ(line.out.str(), "function copy\n");
  EXPECT_EQ(line.Run({"check", "copy", "--stop-after", "plan"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("checked n=33\n"));
  EXPECT_EQ(line.Run({"check", "copy", "--stop-after", "build"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr(".version 8.0"));
  EXPECT_EQ(line.Run({"optimize", "copy", "--stop-after", "measure"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("n=4096 predicted"));
}

TEST(Profile, ShowsTimesAndRejectsWrongKernels) {
  CommandLine line;
  EXPECT_EQ(line.Run({"profile", "copy"}), kExitDone) << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("n=4096"));
  EXPECT_THAT(line.out.str(), HasSubstr("predicted"));
  EXPECT_EQ(line.Run({"profile", "copy", "--json"}), kExitDone);
  EXPECT_EQ(nlohmann::json::parse(line.out.str())["timings"][0]["shape"], "n=4096");
  line.Write("bad.cu", "// wrong\n");
  EXPECT_EQ(line.Run({"profile", "copy", "--kernel", "bad.cu"}), kExitNothingKept);
}

TEST(Profile, TakesCountersFromNsightCompute) {
  CommandLine line;
  line.Write(
      "c.csv",
      R"csv("ID","Kernel Name","Block Size","Grid Size","dram__throughput.avg.pct_of_peak_sustained_elapsed"
"","","","","%"
"0","copy_kernel(const float *, float *)","(1, 1, 1)","(1, 1, 1)","81"
)csv");
  EXPECT_EQ(line.Run({"profile", "copy", "--ncu", "c.csv"}), kExitDone) << line.err.str();
  EXPECT_THAT(line.out.str(), HasSubstr("counters at n=4096, by ncu"));
  EXPECT_THAT(line.out.str(), HasSubstr("memory bound: device memory is near its limit"));
  EXPECT_EQ(line.Run({"profile", "copy", "--ncu", "c.csv", "--json"}), kExitDone);
  const auto json = nlohmann::json::parse(line.out.str());
  EXPECT_EQ(json["metrics_from"], "ncu");
  EXPECT_EQ(json["metrics"].size(), 1u);
  EXPECT_EQ(json["timings"][0]["kind"], "predicted");  // a profiler's times are not taken
  line.Write("c.csv", "nothing\n");
  EXPECT_EQ(line.Run({"profile", "copy", "--ncu", "c.csv"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("c.csv: no launches of `ncu --csv --page raw` in it"));
}

TEST(Doctor, SaysWhatAnUnwritableCacheMeans) {
  CommandLine line;
  line.tools.facts.toolchain = *line.tools.toolchain;
  line.tools.facts.compiler = {"c++", "/usr/bin/c++", "g++ 12"};
  line.env.variables = {{"HOME", line.Path("copy/kernel.cu").string()}};  // no folder
  EXPECT_EQ(line.Run({"doctor"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("kernel.cu/.cache/optiml, not writable"));
  EXPECT_THAT(line.out.str(), HasSubstr("every kernel and every host reference is compiled anew; "
                                        "set OPTIML_CACHE_DIR to a folder"));
}

// A machine with one GPU that NVML knows.
GpuFact AGpu() {
  GpuFact gpu;
  gpu.name = "NVIDIA H200";
  gpu.architecture = "sm_90";
  gpu.multiprocessors = 132;
  cuda::NvmlFacts nvml;
  nvml.driver_version.value = "580.65.06";
  nvml.sm_hz.value = 345e6;
  nvml.most_sm_hz.value = 1980e6;
  nvml.memory_hz.why_not = "NVML: Not Supported";
  nvml.temperature_celsius.value = 34;
  nvml.throttling.value = std::vector<std::string>();
  nvml.mig_mode.value = false;
  nvml.ecc.value = true;
  nvml.free_bytes.value = 139'000'000'000;
  nvml.total_bytes.value = 141'000'000'000;
  nvml.processes.value = std::vector<cuda::NvmlProcess>();
  gpu.nvml = nvml;
  return gpu;
}

CommandLine& WithGpu(CommandLine& line, const GpuFact& gpu) {
  line.tools.facts.toolchain = *line.tools.toolchain;
  line.tools.facts.compiler = {"c++", "/usr/bin/c++", "g++ 12"};
  line.tools.facts.has_driver = true;
  line.tools.facts.driver_version = 13000;
  line.tools.facts.gpus = {gpu};
  return line;
}

TEST(Doctor, TellsWhatAGpuIsDoing) {
  CommandLine line;
  WithGpu(line, AGpu());
  EXPECT_EQ(line.Run({"doctor"}), kExitDone) << line.err.str();
  const std::string out = line.out.str();
  EXPECT_THAT(out, HasSubstr("ok       driver        580.65.06, for CUDA 13.0"));
  EXPECT_THAT(out, HasSubstr("SM 345 MHz of 1980 MHz, memory ? MHz (NVML: Not Supported)"));
  EXPECT_THAT(out, HasSubstr("no throttling"));
  EXPECT_THAT(out, HasSubstr("ok       GPU memory    139.0 of 141.0 GB free"));
  EXPECT_THAT(out, HasSubstr("ok       other work    no other process"));
  EXPECT_THAT(out, HasSubstr("ok       MIG           mode off"));
  EXPECT_THAT(out, HasSubstr("missing  peaks         not measured with this driver"));
  EXPECT_THAT(out, HasSubstr("optiml doctor --measure-peaks"));
}

TEST(Doctor, SaysWhatFollowsFromOthersOnTheGpu) {
  GpuFact gpu = AGpu();
  gpu.nvml->free_bytes.value = 300'000'000;
  gpu.nvml->processes.value = {{4000, 140'000'000'000}, {4001, std::nullopt}};
  gpu.nvml->throttling.value = {"power cap"};
  CommandLine line;
  WithGpu(line, gpu);
  EXPECT_EQ(line.Run({"doctor"}), kExitDone);
  const std::string out = line.out.str();
  EXPECT_THAT(out, HasSubstr("missing  GPU memory    0.3 of 141.0 GB free"));
  EXPECT_THAT(out, HasSubstr("no room for a context"));
  EXPECT_THAT(out, HasSubstr("process 4000 (140.0 GB), process 4001"));
  EXPECT_THAT(out, HasSubstr("times may be disturbed"));
  EXPECT_THAT(out, HasSubstr("held down: power cap"));
  EXPECT_THAT(out, HasSubstr("times are longer than those of the full clock"));
  EXPECT_EQ(line.Run({"doctor", "--json"}), kExitDone);
  const auto json = nlohmann::json::parse(line.out.str());
  const auto& nvml = json["gpus"][0]["nvml"];
  EXPECT_EQ(nvml["processes"][0]["pid"], 4000);
  EXPECT_EQ(nvml["processes"][1]["bytes"], nullptr);
  EXPECT_EQ(nvml["memory_hz"], nullptr);
  EXPECT_EQ(nvml["not_known"]["memory_hz"], "NVML: Not Supported");
  EXPECT_EQ(nvml["throttling"][0], "power cap");
  EXPECT_EQ(json["gpus"][0]["peaks"], nullptr);
}

TEST(Doctor, ADriverThatIsOlderThanTheToolkitIsNamed) {
  CommandLine line;
  WithGpu(line, AGpu()).tools.facts.driver_version = 12040;
  EXPECT_EQ(line.Run({"doctor"}), kExitDone);
  EXPECT_THAT(line.out.str(),
              HasSubstr("missing  driver        580.65.06, for CUDA 12.4, older than NVRTC 13.0"));
  EXPECT_THAT(line.out.str(), HasSubstr("toolkit of CUDA 12.4 or earlier with OPTIML_CUDA_HOME"));
}

TEST(Doctor, ASliceAndAMissingNvmlAreCalledThat) {
  GpuFact gpu = AGpu();
  gpu.nvml->is_mig_slice = true;
  gpu.multiprocessors = 16;
  gpu.l2_bytes = 6'000'000;
  CommandLine line;
  WithGpu(line, gpu);
  line.Run({"doctor"});
  EXPECT_THAT(line.out.str(), HasSubstr("this is a slice: 16 multiprocessors, 6.0 MB of L2"));
  gpu.nvml.reset();
  gpu.nvml_problem = "no NVML: libnvidia-ml.so.1: cannot open shared object file";
  WithGpu(line, gpu);
  EXPECT_EQ(line.Run({"doctor"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("missing  NVML          no NVML: libnvidia-ml.so.1"));
}

TEST(Doctor, MeasuresPeaksOfTheGpuThatWasAskedFor) {
  CommandLine line;
  WithGpu(line, AGpu());
  EXPECT_EQ(line.Run({"doctor", "--measure-peaks"}), kExitDone) << line.err.str();
  ASSERT_EQ(line.tools.measured_on.size(), 1U);
  EXPECT_EQ(line.tools.measured_on[0].kind, "cuda");
  EXPECT_EQ(line.tools.measured_on[0].peaks, line.env.working_directory / "cache" / "peaks");
  EXPECT_THAT(line.out.str(),
              HasSubstr("ok       peaks         memory 4.31 TB/s read; 2000-01-01"));
  EXPECT_THAT(line.out.str(), HasSubstr("note: f16 tensor: fault: illegal instruction"));
  EXPECT_EQ(line.Run({"doctor", "--measure-peaks", "--device", "cuda:3", "--json"}), kExitDone);
  EXPECT_EQ(line.tools.measured_on[1].kind, "cuda:3");
  const auto json = nlohmann::json::parse(line.out.str());
  EXPECT_EQ(json["gpus"][0]["peaks"]["dram_read_bytes_per_s"], 4.31e12);
  EXPECT_THAT(line.Run({"doctor", "--device", "emulator"}), kExitBadUse);
}

TEST(Doctor, WithoutAGpuNothingCanBeMeasured) {
  CommandLine line;
  WithGpu(line, AGpu()).tools.facts.gpus.clear();
  EXPECT_EQ(line.Run({"doctor", "--measure-peaks"}), kExitEnvironment);
  EXPECT_THAT(line.err.str(), HasSubstr("no NVIDIA driver"));
  WithGpu(line, AGpu());
  line.env.variables.clear();
  EXPECT_EQ(line.Run({"doctor", "--measure-peaks"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("no folder to keep them in"));
  EXPECT_EQ(line.Run({"doctor", "--device", "cuda:2"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("number 2 was asked for, the driver lists 1"));
}

TEST(Doctor, SaysWhatFollowsFromWhatIsMissing) {
  CommandLine line;
  line.tools.facts.toolchain = *line.tools.toolchain;
  line.tools.facts.compiler = {"c++", "/usr/bin/c++", "g++ 12"};
  line.tools.facts.clang_version = "19.1.7";
  EXPECT_EQ(line.Run({"doctor"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("Clang 19.1.7"));
  EXPECT_THAT(line.out.str(), HasSubstr("times are predicted, not measured"));
  EXPECT_THAT(line.out.str(), HasSubstr("ready: try"));
  line.tools.facts.toolchain = Error(ErrorCode::kUnavailable, "libnvrtc is not here");
  EXPECT_EQ(line.Run({"doctor", "--json"}), kExitEnvironment);
  const auto json = nlohmann::json::parse(line.out.str());
  EXPECT_EQ(json["ready"], false);
  EXPECT_EQ(json["findings"][1]["verdict"], "broken");
}

}  // namespace
}  // namespace optiml
