#ifndef OPTIML_VERIFY_VERIFIER_TEST_SUPPORT_H_
#define OPTIML_VERIFY_VERIFIER_TEST_SUPPORT_H_

// The verifier with a fake builder and a fake device, on which a function of the test plays the
// kernel. tests/verify/ runs real kernels.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/file_system.h"
#include "device/fake_device.h"
#include "task/task_file.h"
#include "verify/verifier.h"

namespace optiml::testing_verifier {

inline constexpr char kSource[] = R"(
__global__ void scale_kernel(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
extern "C" void scale(const float* x, float* y, float a, int n) {
  scale_kernel<<<(n + 63) / 64, 64>>>(x, y, a, n);
}
)";

inline constexpr char kTask[] = R"([task]
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
  // All of y at once, instead of `function`.
  std::function<void(const TaskInputs&, Tensor& y)> of_all;
  int runs = 0;
  int interrupted_at = 0;  // the run, counted from 1, that the user ends; 0: none
  // What the range form adds to an element, and how often it ran; absent: there is none.
  std::optional<double> range_error;
  int64_t range_error_beyond = 0;  // only of outputs with more elements
  int range_runs = 0;

  Result<std::vector<Tensor>> Run(const TaskInputs& inputs) override {
    if (++runs == interrupted_at) {
      return Error(ErrorCode::kInterrupted, "interrupted");
    }
    std::vector<Tensor> outputs = {inputs.buffers[0],
                                   MakeTensor(DType::kF64, inputs.buffers[1].shape)};
    if (of_all) {
      of_all(inputs, outputs[1]);
      return outputs;
    }
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
    const bool is_wrong = outputs[1].element_count() > range_error_beyond;
    for (int64_t i = begin; is_wrong && i < end; ++i) {
      StoreElement(DType::kF64, outputs[1].At(i) + *range_error, outputs[1].bytes.data() + 8 * i);
    }
    return outputs;
  }
};

// What one launch does: x and y as floats, the scalars, and how many launches came before it.
using Kernel = std::function<void(std::vector<float>& x, std::vector<float>& y, float a, int n,
                                  int launches_before)>;

inline void Honest(std::vector<float>& x, std::vector<float>& y, float a, int n, int /*before*/) {
  for (int i = 0; i < n; ++i) {
    y[static_cast<size_t>(i)] = a * x[static_cast<size_t>(i)];
  }
}

class VerifierTest : public ::testing::Test {
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
    original_ = kernel_;
    original_hash_ = last_hash_;
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
    last_hash_ = request.artifact->ptx_hash;
    elsewhere_ = request.surroundings.of_machine.has_value();
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
      launch_work_.clear();
      for (const LaunchStep& step : request.plan->steps) {
        Launch(std::get<KernelLaunch>(step), memory, launches_++);
      }
      outcome.pass_work.push_back(work_);
      outcome.launch_work.push_back(launch_work_);
    }
    outcome.buffers = memory;
    return outcome;
  }

  void Launch(const KernelLaunch& launch, std::vector<std::vector<std::byte>>& memory, int before) {
    const std::vector<std::byte>& scalar = std::get<1>(launch.arguments[2]);
    int n = 0;
    std::memcpy(&n, std::get<1>(launch.arguments[3]).data(), 4);
    if (scalar.size() == 8) {
      LaunchInDouble(scalar, memory);
      return;
    }
    float a = 0;
    std::memcpy(&a, scalar.data(), 4);
    std::vector<float> x(memory[0].size() / 4);
    std::vector<float> y(memory[1].size() / 4);
    std::memcpy(x.data(), memory[0].data(), memory[0].size());
    std::memcpy(y.data(), memory[1].data(), memory[1].size());
    const bool is_original = original_hash_ && *original_hash_ == last_hash_;
    (is_original ? original_ : kernel_)(x, y, a, n, before);
    std::memcpy(memory[0].data(), x.data(), memory[0].size());
    std::memcpy(memory[1].data(), y.data(), memory[1].size());
  }

  // The original with its floats promoted.
  void LaunchInDouble(const std::vector<std::byte>& scalar,
                      std::vector<std::vector<std::byte>>& memory) {
    double a = 0;
    std::memcpy(&a, scalar.data(), 8);
    for (size_t i = 0; i + 8 <= memory[0].size(); i += 8) {
      double x = 0;
      std::memcpy(&x, memory[0].data() + i, 8);
      const double y = in_double_(x, a);
      std::memcpy(memory[1].data() + i, &y, 8);
    }
    ++double_launches_;
  }

  TemporaryDirectory folder_;
  KernelTask task_;
  FakeBuilder builder_;
  FakeDevice device_;
  FakeReference reference_;
  Kernel kernel_ = Honest;
  // The task's own, which runs at the timed shapes after the candidate was judged; told by its PTX.
  Kernel original_ = Honest;
  std::function<double(double x, double a)> in_double_ = [](double x, double a) { return a * x; };
  int double_launches_ = 0;
  std::optional<ContentHash> original_hash_;
  ContentHash last_hash_;
  RunOutcome outcome_;
  int launches_ = 0;
  BlockOrder order_ = BlockOrder::kFirstToLast;
  bool elsewhere_ = false;             // addresses and clocks are those of another machine
  uint64_t work_ = 0;                  // what the device says of the pass that runs
  std::vector<uint64_t> launch_work_;  // and of its launches
  std::unique_ptr<Verifier> verifier_;
};

}  // namespace optiml::testing_verifier

#endif  // OPTIML_VERIFY_VERIFIER_TEST_SUPPORT_H_
