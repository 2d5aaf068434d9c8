// The verifier with a fake builder and a fake device, on which a function of the test plays the
// kernel. tests/verify/ runs real kernels.
#include "verify/verifier.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/file_system.h"
#include "device/fake_device.h"
#include "task/npy.h"
#include "task/task_file.h"
#include "verify/compare.h"
#include "verify/delivered.h"

namespace optiml {
namespace {

using testing::HasSubstr;

constexpr char kSource[] = R"(
__global__ void scale_kernel(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
extern "C" void scale(const float* x, float* y, float a, int n) {
  scale_kernel<<<(n + 63) / 64, 64>>>(x, y, a, n);
}
)";

constexpr char kTask[] = R"([task]
name   = "scale"
[sizes]
timed   = [ { n = 4096 } ]
checked = [ { n = 1 }, { n = 67 } ]
[args]
x = { dtype = "f32", shape = ["n"] }
y = { dtype = "f32", shape = ["n"], role = "out" }
a = { dtype = "f32", fill = "uniform", min = 1, max = 2 }
n = {}
)";

class FakeBuilder : public Builder {
 public:
  Result<BuildOutcome> Build(const BuildRequest& request) override {
    if (request.device_text.find("does_not_compile") != std::string::npos) {
      return BuildOutcome(BuildFailure{"compile", "log", "kernel.cu:3: no such thing", false});
    }
    Artifact artifact;
    artifact.ptx_hash = ContentHash::Of(request.device_text);
    for (const std::string& name : request.name_expressions) {
      KernelResources resources;
      resources.name_expression = name;
      resources.registers =
          request.device_text.find("many_registers") == std::string::npos ? 32 : 255;
      artifact.kernels.push_back(resources);
    }
    return BuildOutcome(artifact);
  }
  Result<ToolchainInfo> Toolchain() override { return ToolchainInfo(); }
};

class FakeReference : public HostReference {
 public:
  // Of an element of x, the same element of y before the run, and the scalar.
  std::function<double(double x, double y, double a)> function = [](double x, double, double a) {
    return x * a;
  };
  int runs = 0;
  // What the range form adds to an element, and how often it ran; absent: there is none.
  std::optional<double> range_error;
  int range_runs = 0;

  Result<std::vector<Tensor>> Run(const TaskInputs& inputs) override {
    ++runs;
    std::vector<Tensor> outputs = {inputs.buffers[0],
                                   MakeTensor(DType::kF64, inputs.buffers[1].shape)};
    for (int64_t i = 0; i < outputs[0].element_count(); ++i) {
      StoreElement(DType::kF64,
                   function(outputs[0].At(i), inputs.buffers[1].At(i), inputs.scalars.at("a")),
                   outputs[1].bytes.data() + 8 * i);
    }
    return outputs;
  }
  bool has_range() const override { return range_error.has_value(); }
  Result<std::vector<Tensor>> RunRange(const TaskInputs& inputs, int64_t begin,
                                       int64_t end) override {
    ++range_runs;
    OPTIML_ASSIGN(std::vector<Tensor> outputs, Run(inputs));
    --runs;
    for (int64_t i = begin; i < end; ++i) {
      StoreElement(DType::kF64, outputs[1].At(i) + *range_error, outputs[1].bytes.data() + 8 * i);
    }
    return outputs;
  }
};

// What one launch does: x and y as floats, the scalars, and how many launches came before it.
using Kernel = std::function<void(std::vector<float>& x, std::vector<float>& y, float a, int n,
                                  int launches_before)>;

void Honest(std::vector<float>& x, std::vector<float>& y, float a, int n, int /*before*/) {
  for (int i = 0; i < n; ++i) {
    y[static_cast<size_t>(i)] = a * x[static_cast<size_t>(i)];
  }
}

class VerifierTest : public testing::Test {
 protected:
  VerifierTest() : folder_(*TemporaryDirectory::Create("optiml-verifier-test-")) {
    EXPECT_TRUE(WriteFileAtomically(folder_.path() / "kernel.cu", kSource));
    device_.on_run = [this](const RunRequest& request) { return Execute(request); };
  }

  // The verifier of a task text, its battery passed.
  void Start(const std::string& toml = kTask, bool host = true) {
    Result<KernelTask> task = ParseTaskFile(toml, "task.toml", folder_.path(), {});
    ASSERT_TRUE(task) << task.error().message();
    task_ = *std::move(task);
    if (host) {
      task_.reference.kind = ReferenceKind::kHost;
    }
    auto made = MakeVerifier(task_, builder_, device_, host ? &reference_ : nullptr, {});
    ASSERT_TRUE(made) << made.error().message();
    verifier_ = *std::move(made);
  }
  std::string BatteryMessage() {
    const auto rows = verifier_->Battery();
    return rows ? "passed" : rows.error().message();
  }

  // What becomes of a candidate that behaves like this.
  Evaluation Judge(Kernel kernel) {
    EXPECT_EQ(BatteryMessage(), "passed");
    kernel_ = std::move(kernel);
    Evaluation evaluation;
    const KernelSource source(std::string(kSource) + "// a candidate\n", "scale", "candidate.cu");
    const auto prepared = verifier_->Prepare(source, evaluation);
    EXPECT_TRUE(prepared) << prepared.error().message();
    const auto verified = verifier_->Verify(std::get<PreparedCandidate>(*prepared), evaluation);
    EXPECT_TRUE(verified) << verified.error().message();
    return evaluation;
  }
  static std::string Reason(const Evaluation& evaluation) {
    const Rejection* rejection = evaluation.rejection();
    return rejection == nullptr ? "accepted"
                                : StageName(rejection->stage) + ": " + rejection->reason;
  }

  Result<RunOutcome> Execute(const RunRequest& request) {
    std::vector<std::vector<std::byte>> memory(request.plan->buffers.size());
    RunOutcome outcome = outcome_;
    launches_ = 0;
    std::vector<PlanPass> passes = {{request.buffers, request.order}};
    passes.insert(passes.end(), request.more_passes.begin(), request.more_passes.end());
    for (const PlanPass& pass : passes) {
      for (size_t i = 0; i < memory.size(); ++i) {
        memory[i] = pass.buffers[i].bytes;
        if (memory[i].empty()) {
          memory[i].assign(request.plan->buffers[i].size_bytes, std::byte{pass.buffers[i].poison});
        }
      }
      order_ = pass.order;
      work_ = 100;
      for (const LaunchStep& step : request.plan->steps) {
        Launch(std::get<KernelLaunch>(step), memory, launches_++);
      }
      outcome.pass_work.push_back(work_);
    }
    outcome.buffers = memory;
    return outcome;
  }

  void Launch(const KernelLaunch& launch, std::vector<std::vector<std::byte>>& memory, int before) {
    float a = 0;
    int n = 0;
    std::memcpy(&a, std::get<1>(launch.arguments[2]).data(), 4);
    std::memcpy(&n, std::get<1>(launch.arguments[3]).data(), 4);
    std::vector<float> x(memory[0].size() / 4);
    std::vector<float> y(memory[1].size() / 4);
    std::memcpy(x.data(), memory[0].data(), memory[0].size());
    std::memcpy(y.data(), memory[1].data(), memory[1].size());
    kernel_(x, y, a, n, before);
    std::memcpy(memory[0].data(), x.data(), memory[0].size());
    std::memcpy(memory[1].data(), y.data(), memory[1].size());
  }

  TemporaryDirectory folder_;
  KernelTask task_;
  FakeBuilder builder_;
  FakeDevice device_;
  FakeReference reference_;
  Kernel kernel_ = Honest;
  RunOutcome outcome_;
  int launches_ = 0;
  BlockOrder order_ = BlockOrder::kFirstToLast;
  uint64_t work_ = 0;  // what the device says of the pass that runs
  std::unique_ptr<Verifier> verifier_;
};

TEST_F(VerifierTest, AcceptsAnHonestCandidateAndSaysWhatItDid) {
  Start();
  const Evaluation evaluation = Judge(Honest);
  EXPECT_EQ(Reason(evaluation), "accepted");
  ASSERT_TRUE(evaluation.verify);
  EXPECT_GE(evaluation.verify->cases_run, 20);
  EXPECT_EQ(evaluation.verify->stage_reached, Stage::kL1);
  EXPECT_LE(evaluation.verify->max_budget_ratio, 1);
  EXPECT_TRUE(evaluation.plan_hash);
  EXPECT_TRUE(evaluation.ptx_hash);
  std::vector<Stage> stages;
  for (const StageTime& time : evaluation.stage_times) {
    stages.push_back(time.stage);
  }
  EXPECT_THAT(stages, testing::ElementsAre(Stage::kParse, Stage::kPlan, Stage::kBuild, Stage::kL0,
                                           Stage::kL1));
}

TEST_F(VerifierTest, TheReferenceRunsOncePerCaseForAllCandidates) {
  Start();
  Judge(Honest);
  const int runs = reference_.runs;
  Judge(Honest);
  EXPECT_EQ(reference_.runs, runs);
}

TEST_F(VerifierTest, EveryCaseShapeIsPoisonedWithBothPatterns) {
  Start();
  Judge(Honest);
  bool seen[2] = {false, false};
  for (const auto& call : device_.calls) {
    EXPECT_TRUE(call.buffers[0].read_only);
    EXPECT_TRUE(call.buffers[1].bytes.empty());
    seen[0] |= call.buffers[1].poison == kPoisonBytes[0];
    seen[1] |= call.buffers[1].poison == kPoisonBytes[1];
  }
  EXPECT_TRUE(seen[0] && seen[1]);
}

TEST_F(VerifierTest, UnwrittenOutputIsFoundAndNamed) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    const float last = y.back();
    Honest(x, y, a, n, before);
    y.back() = n > 1 ? last : y.back();  // the tail stays as it was
  });
  EXPECT_THAT(Reason(evaluation),
              HasSubstr("L1: at n=67, declared fills, seed 1: y[66] is unwritten"));
  EXPECT_TRUE(evaluation.verify->first_mismatch->unwritten);
}

TEST_F(VerifierTest, WrongElementsAreNamedWithBothValues) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    if (n == 67) {
      y[10] += 1;
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("y[10]: expected"));
  EXPECT_EQ(evaluation.verify->mismatch_count, 1);
  EXPECT_EQ(evaluation.verify->failing_case, "n=67, declared fills, seed 1");
}

TEST_F(VerifierTest, AnIgnoredScalarIsFound) {
  Start();
  const Evaluation evaluation =
      Judge([](auto& x, auto& y, float, int n, int before) { Honest(x, y, 1.5f, n, before); });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L1: "));
}

TEST_F(VerifierTest, HalfPrecisionInsideIsFound) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    for (float& v : y) {
      std::byte half[2];
      StoreElement(DType::kF16, v, half);
      v = static_cast<float>(LoadElement(DType::kF16, half));
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L1: "));
}

TEST_F(VerifierTest, CodeForAlignedSizesRunsToo) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    if (n % 4 == 0) {
      y[2] = 0;  // the vector path is wrong; no checked size is a multiple of 4
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("n=1024"));
}

TEST_F(VerifierTest, SpecialDistributionsAreTried) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    if (std::all_of(x.begin(), x.end(), [](float v) { return v < 0; }) && n > 8) {
      y[0] = 0;  // a fast path for negative data
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("fill all_negative"));
}

TEST_F(VerifierTest, StateKeptBetweenLaunchesIsFound) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    if (before == 0) {
      Honest(x, y, a, n, before);  // the second launch relies on the first
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("on a later call, y[0] is unwritten"));
}

TEST_F(VerifierTest, ResultsKeptFromOtherInputsAreFound) {
  Start();
  std::vector<float> kept;
  const Evaluation evaluation = Judge([&](auto& x, auto& y, float a, int n, int before) {
    if (before == 0) {
      Honest(x, y, a, n, before);
      kept = y;
    }
    y = kept;  // same pointers, new contents
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L1: at n=1, declared fills, seed 1: on a later call, "
                                            "y[0]: expected"));
}

TEST_F(VerifierTest, WorkThatIsSparedOnASecondCallIsFound) {
  Start();
  std::vector<float> kept_x;
  std::vector<float> kept_y;
  const Evaluation evaluation = Judge([&](auto& x, auto& y, float a, int n, int before) {
    if (before > 0 && x == kept_x) {
      y = kept_y;  // always right, and no work at all
      work_ = 5;
      return;
    }
    Honest(x, y, a, n, before);
    kept_x = x;
    kept_y = y;
  });
  EXPECT_THAT(Reason(evaluation),
              HasSubstr("L0: at n=1, declared fills, seed 1: a second call with the same inputs "
                        "does 5 % of the first one's work"));
}

TEST_F(VerifierTest, TheOrderOfBlocksMustNotShow) {
  Start();
  const Evaluation evaluation = Judge([&](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    if (order_ == BlockOrder::kLastToFirst && n == 67) {
      y[66] = 0;  // waits for what an earlier block leaves behind
    }
  });
  EXPECT_THAT(Reason(evaluation),
              HasSubstr("L1: at n=67, declared fills, seed 1: with its blocks from last to first, "
                        "y[66]: expected"));
}

TEST_F(VerifierTest, AChangedInputIsFound) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    x[0] = 3;
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("the input x[0] was changed"));
}

TEST_F(VerifierTest, FindingsFaultsAndHangsAreRejections) {
  Start();
  Judge(Honest);
  const auto reason = [&] {
    Evaluation evaluation;
    const KernelSource source(std::string(kSource) + "// b\n", "scale", "candidate.cu");
    const auto prepared = verifier_->Prepare(source, evaluation);
    EXPECT_TRUE(verifier_->Verify(std::get<PreparedCandidate>(*prepared), evaluation));
    return Reason(evaluation);
  };
  outcome_.findings = {{"race", "scale_kernel", "threads 3 and 4 write s[1]", 4}};
  EXPECT_EQ(reason(),
            "L0: at n=1, declared fills, seed 1: scale_kernel: race: threads 3 and 4 write s[1] "
            "(line 4)");
  outcome_ = {};
  outcome_.status = RunStatus::kTimedOut;
  outcome_.reason = "the step limit was reached";
  EXPECT_THAT(reason(), HasSubstr("L0: at n=1, declared fills, seed 1: the step limit"));
  outcome_.status = RunStatus::kUnsupported;
  outcome_.reason = "instruction wgmma at line 9";
  EXPECT_THAT(reason(), HasSubstr("not checked by fake: instruction wgmma at line 9"));
}

TEST_F(VerifierTest, SourcesThatCannotBePreparedAreRejections) {
  Start();
  const auto reason = [&](const std::string& text) {
    Evaluation evaluation;
    const auto prepared = verifier_->Prepare(KernelSource(text, "scale", "c.cu"), evaluation);
    EXPECT_TRUE(prepared);
    EXPECT_TRUE(std::holds_alternative<Rejection>(*prepared));
    return Reason(evaluation);
  };
  EXPECT_THAT(reason("this is not CUDA"), HasSubstr("parse: c.cu:1"));
  EXPECT_THAT(reason("extern \"C\" void other(int n) {}"), HasSubstr("plan: "));
  EXPECT_THAT(reason("extern \"C\" void scale(const float* x, float* y, int n) {}"),
              HasSubstr("plan: task.toml:"));
  EXPECT_THAT(reason(std::string(kSource) + "__device__ int does_not_compile;"),
              HasSubstr("build: kernel.cu:3: no such thing"));
}

TEST_F(VerifierTest, ACandidateMayRenameItsParameters) {
  Start();
  Evaluation evaluation;
  std::string text = kSource;
  for (size_t at = text.find("float* x"); at != std::string::npos; at = text.find("float* x")) {
    text.replace(at, 8, "float* input");
  }
  for (size_t at = text.find("x[i]"); at != std::string::npos; at = text.find("x[i]")) {
    text.replace(at, 4, "input[i]");
  }
  text.replace(text.find("(x, y"), 5, "(input, y");
  const auto prepared = verifier_->Prepare(KernelSource(text, "scale", "c.cu"), evaluation);
  ASSERT_TRUE(prepared);
  EXPECT_TRUE(std::holds_alternative<PreparedCandidate>(*prepared)) << Reason(evaluation);
}

TEST_F(VerifierTest, BatteryRejectsEveryMutantOfASoundTask) {
  Start();
  const auto rows = verifier_->Battery();
  ASSERT_TRUE(rows) << rows.error().message();
  std::map<std::string, std::string> verdicts;
  for (const BatteryVerdict& row : *rows) {
    verdicts[row.mutant] = row.verdict;
  }
  for (const char* mutant : {"zeros", "a constant (the mean)", "a constant (the first value)",
                             "a copy of x", "the output of other inputs", "half of the work",
                             "a 1 % scale error", "a shift by one element"}) {
    EXPECT_EQ(verdicts[mutant], "rejected") << mutant;
  }
}

TEST_F(VerifierTest, ACopyIsEquivalentWhereCopyingIsTheTask) {
  kernel_ = [](auto& x, auto& y, float, int n, int before) { Honest(x, y, 1.0f, n, before); };
  reference_.function = [](double x, double, double) { return x; };
  Start();
  const auto rows = verifier_->Battery();
  ASSERT_TRUE(rows) << rows.error().message();
  for (const BatteryVerdict& row : *rows) {
    if (row.mutant == "a copy of x") {
      EXPECT_EQ(row.verdict, "equivalent");
    }
  }
}

TEST_F(VerifierTest, ATaskWhoseInputsAreZeroIsRefusedWithTheFix) {
  std::string toml = kTask;
  toml.replace(toml.find("shape = [\"n\"] }"), 15, "shape = [\"n\"], fill = \"zeros\" }");
  Start(toml);
  EXPECT_THAT(BatteryMessage(), HasSubstr("the task is too weak: its checks accept zeros as an "
                                          "answer (every checked case has this very answer); "
                                          "declare fills"));
}

TEST_F(VerifierTest, ATaskWithAHugeToleranceIsRefusedWithTheFix) {
  Start(std::string(kTask) + "[tolerance]\nabsolute = 1e8\nrelative = 0.5\n");
  EXPECT_THAT(BatteryMessage(), HasSubstr("(the task's tolerance hides it); tighten [tolerance]"));
}

TEST_F(VerifierTest, AReferenceThatDisagreesWithTheOriginalIsAnError) {
  reference_.function = [](double x, double, double a) { return x * a + 0.5; };
  Start();
  EXPECT_THAT(BatteryMessage(),
              HasSubstr("the reference disagrees with the original kernel at n=1, declared fills, "
                        "seed 1: y[0]: expected"));
}

TEST_F(VerifierTest, ARangeReferenceIsComparedWithTheWholeOneOncePerCheckedRow) {
  reference_.range_error = 0;
  Start();
  EXPECT_EQ(BatteryMessage(), "passed");
  EXPECT_EQ(reference_.range_runs, 3);  // one range of the one element, two of the 67
  reference_.range_error = 1e-3;
  Start();
  EXPECT_THAT(BatteryMessage(), HasSubstr("scale_reference_range on elements [0, 1) gives "));
}

TEST_F(VerifierTest, AnOriginalThatLeavesOutputsUnwrittenIsAnError) {
  kernel_ = [](auto& x, auto& y, float a, int n, int before) { Honest(x, y, a, n - 1, before); };
  Start();
  EXPECT_THAT(BatteryMessage(), HasSubstr("the original kernel leaves outputs unwritten at n=1"));
}

TEST_F(VerifierTest, FillsOutsideOfTheOriginalsDomainAreLeftOutAndListed) {
  // The kernel is only right for small numbers, which is all that the task promises.
  const Kernel narrow = [](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    for (size_t i = 0; i < y.size(); ++i) {
      y[i] = std::fabs(x[i]) > 1000 ? 0 : y[i];
    }
  };
  kernel_ = narrow;
  Start();
  EXPECT_EQ(Reason(Judge(narrow)), "accepted");
  EXPECT_THAT(verifier_->DroppedCases(), testing::Contains(HasSubstr("fill mixed_scale, seed")));
}

TEST_F(VerifierTest, TheOriginalItselfCanBeTheReference) {
  Start(kTask, false);
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
  EXPECT_THAT(Reason(Judge([](auto& x, auto& y, float a, int n, int before) {
                Honest(x, y, a * 1.001f, n, before);
              })),
              HasSubstr("L1: "));
}

TEST_F(VerifierTest, InOutBuffersAreRestoredBeforeTheSecondLaunch) {
  const Kernel add = [](auto& x, auto& y, float a, int n, int) {
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      y[i] += a * x[i];
    }
  };
  kernel_ = add;
  reference_.function = [](double x, double y, double a) { return y + a * x; };
  std::string toml = kTask;
  toml.replace(toml.find("role = \"out\""), 12, "role = \"inout\"");
  Start(toml);
  EXPECT_EQ(Reason(Judge(add)), "accepted");
  EXPECT_THAT(Reason(Judge(Honest)), HasSubstr("L1: "));  // forgets what was there
}

TEST_F(VerifierTest, RecordedTensorsServeTheirRow) {
  Tensor x = MakeTensor(DType::kF32, {67});
  Tensor y = MakeTensor(DType::kF64, {67});
  for (size_t i = 0; i < 67; ++i) {
    StoreElement(DType::kF32, 0.125 * static_cast<double>(i), x.bytes.data() + 4 * i);
    StoreElement(DType::kF64, 0.25 * static_cast<double>(i), y.bytes.data() + 8 * i);
  }
  ASSERT_TRUE(SaveNpy(folder_.path() / "x.npy", x));
  ASSERT_TRUE(SaveNpy(folder_.path() / "y.npy", y));
  const std::string toml = R"([sizes]
timed   = [ { n = 4096 } ]
checked = [ { n = 67 } ]
[args]
x = { dtype = "f32", shape = ["n"] }
y = { dtype = "f32", shape = ["n"], role = "out" }
a = { dtype = "f32", value = 2.0 }
n = {}
[reference]
kind  = "recorded"
files = { x = "x.npy", y = "y.npy" }
)";
  Start(toml, false);
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
  EXPECT_THAT(Reason(Judge([](auto& in, auto& out, float, int n, int before) {
                Honest(in, out, 2.1f, n, before);
              })),
              HasSubstr("L1: at n=67, recorded inputs: y[1]: expected 0.25, got"));
  StoreElement(DType::kF64, 17, y.bytes.data() + 8);
  ASSERT_TRUE(SaveNpy(folder_.path() / "y.npy", y));
  kernel_ = Honest;
  Start(toml, false);
  EXPECT_THAT(BatteryMessage(), HasSubstr("the reference disagrees with the original kernel at "
                                          "n=67, recorded inputs: y[1]: expected 17"));
  Tensor short_y = MakeTensor(DType::kF64, {66});
  ASSERT_TRUE(SaveNpy(folder_.path() / "y.npy", short_y));
  Start(toml, false);
  EXPECT_THAT(BatteryMessage(), HasSubstr("y.npy: y has shape [66] in the file, but [67]"));
}

TEST_F(VerifierTest, AKernelWithoutLauncherIsLaunchedAsTheTaskSays) {
  const std::string toml = std::string(kTask) + R"toml([launch]
kernel = "scale_kernel"
grid   = ["ceil_div(n, 64)"]
block  = [64]
)toml";
  Start(toml);
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
  EXPECT_THAT(device_.calls.back().plan, HasSubstr("launch scale_kernel grid"));
}

constexpr char kLaunchTable[] = R"toml([launch]
kernel = "scale_kernel"
grid   = ["ceil_div(n, 64)"]
block  = [64]
)toml";

TEST_F(VerifierTest, ACandidateForALaunchTableMayBringItsOwnLauncher) {
  Start(std::string(kTask) + kLaunchTable);
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
  std::string text = kSource;
  text.replace(text.find("void scale("), 11, "void run_scale_kernel(");
  text.replace(text.find("64>>>"), 5, "32>>>");
  Evaluation evaluation;
  const auto own = verifier_->Prepare(KernelSource(text, "scale_kernel", "c.cu"), evaluation);
  ASSERT_TRUE(own && std::holds_alternative<PreparedCandidate>(*own)) << Reason(evaluation);
  EXPECT_THAT(std::get<PreparedCandidate>(*own).timed_plans[0].Format(), HasSubstr("block 32"));
}

TEST_F(VerifierTest, ALaunchTableBesideALauncherOfItsNameOrOtherParametersIsRefused) {
  std::string text = kSource;
  text.replace(text.find("void scale("), 11, "void run_scale_kernel(");
  ASSERT_TRUE(WriteFileAtomically(folder_.path() / "kernel.cu", text));
  Start(std::string(kTask) + kLaunchTable);
  EXPECT_THAT(BatteryMessage(), HasSubstr("\"run_scale_kernel\" would take the place of [launch]"));
  text = std::string(kSource).substr(0, std::string(kSource).find("extern"));
  text.replace(text.find("const float* x, float* y"), 24, "const double* x, float* y");
  ASSERT_TRUE(WriteFileAtomically(folder_.path() / "kernel.cu", text));
  Start(std::string(kTask) + kLaunchTable);
  EXPECT_THAT(BatteryMessage(), HasSubstr("task.toml:7: x is f32 in the task, but f64 in "));
}

TEST_F(VerifierTest, ALaunchBeyondTheDeviceIsRejectedBeforeItRuns) {
  Start();
  Judge(Honest);
  Evaluation evaluation;
  std::string text = std::string(kSource) + "__device__ int many_registers;\n";
  text.replace(text.find("64>>>"), 5, "512>>>");
  const auto prepared = verifier_->Prepare(KernelSource(text, "scale", "c.cu"), evaluation);
  ASSERT_TRUE(prepared);
  const size_t calls = device_.calls.size();
  ASSERT_TRUE(verifier_->Verify(std::get<PreparedCandidate>(*prepared), evaluation));
  EXPECT_THAT(Reason(evaluation),
              HasSubstr("L0: the launch of scale_kernel at line 7 cannot run: 255 registers"));
  EXPECT_EQ(device_.calls.size(), calls);
}

class DeliveredTest : public VerifierTest {
 protected:
  DeliveredReport Deliver(const std::string& written) {
    Start();
    EXPECT_EQ(BatteryMessage(), "passed");
    Evaluation evaluation;
    const KernelSource source(kSource, "scale", "best.cu");
    const auto prepared = verifier_->Prepare(source, evaluation);
    EXPECT_TRUE(prepared);
    const auto file = folder_.path() / "best.cu";
    EXPECT_TRUE(WriteFileAtomically(file, written));
    auto report = CheckDelivered(file, task_, std::get<PreparedCandidate>(*prepared), *verifier_,
                                 DeliveredOptions());
    EXPECT_TRUE(report) << report.error().message();
    return *std::move(report);
  }
};

TEST_F(DeliveredTest, TheVeryFilePasses) {
  const DeliveredReport report = Deliver(kSource);
  EXPECT_EQ(Reason(report.evaluation), "accepted");
  EXPECT_EQ(report.nvcc, "nvcc not present");
}

TEST_F(DeliveredTest, OtherLaunchesOrOtherCodeAreRejected) {
  std::string other = kSource;
  other.replace(other.find("64>>>"), 5, "32>>>");
  EXPECT_THAT(Reason(Deliver(other).evaluation),
              HasSubstr("delivered: best.cu: its launches at a checked shape are not those"));
  other = kSource;
  other.replace(other.find("a * x[i]"), 8, "x[i] * a");
  EXPECT_THAT(Reason(Deliver(other).evaluation), HasSubstr("its PTX is not the one"));
  EXPECT_THAT(Reason(Deliver("nonsense").evaluation), HasSubstr("delivered: best.cu: parse: "));
}

}  // namespace
}  // namespace optiml
