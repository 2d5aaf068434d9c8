// optiml emulate: runs a kernel on the PTX emulator with every check, and says what it did.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/emulation_view.h"
#include "cli/option_checks.h"
#include "cli/ptx_target.h"
#include "cli/stages.h"
#include "task/inputs.h"
#include "verify/plan_runner.h"
#include "verify/timed_check.h"

namespace optiml {
namespace {

// The plan with the most bytes in its buffers: small checked rows are corner cases.
size_t LargestPlan(const std::vector<LaunchPlan>& plans) {
  size_t largest = 0;
  uint64_t most = 0;
  for (size_t i = 0; i < plans.size(); ++i) {
    uint64_t bytes = 0;
    for (const PlanBuffer& buffer : plans[i].buffers) {
      bytes += buffer.size_bytes;
    }
    if (bytes > most) {
      most = bytes;
      largest = i;
    }
  }
  return largest;
}

// Asks for a comparison of each output of floats with double arithmetic.
void FollowOutputs(const std::vector<ArgSpec>& args, RunRequest& request) {
  size_t next = 0;
  for (const PlanBuffer& buffer : request.plan->buffers) {
    if (buffer.argument < 0) {
      continue;
    }
    const ArgSpec& arg = args[static_cast<size_t>(buffer.argument)];
    if (CanFollow(arg)) {
      request.buffers[next].shadow = arg.dtype;
    }
    ++next;
  }
}

class EmulateCommand : public Command {
 public:
  std::string Name() const override { return "emulate"; }
  std::string Summary() const override {
    return "run a kernel on the emulator: counters by launch and source line, every check that "
           "fired";
  }
  std::string Example() const override {
    return "Examples\n"
           "  optiml emulate examples/softmax\n"
           "  optiml emulate examples/matmul --checked m=64,n=64,k=64 --kernel mine.cu --json\n"
           "  optiml emulate scale.ptx --grid 4 --block 256 --checked n=1000 \\\n"
           "      --arg x=f32[n]:inout --arg factor=f32=2.5 --arg n=size\n"
           "  optiml emulate examples/softmax --shadow\n"
           "\n"
           "Runs at the largest row of checked sizes. Exit status 1 means that a check fired or "
           "that\n"
           "the kernel did not end by itself; 2 that the task's own kernel does not build, or "
           "that\n"
           "its launcher cannot be followed.";
  }
  void Declare(CLI::App& app) override {
    AddEmulationOptions(app, task_);
    app.get_option("path")->description(
        "a task folder, a task.toml, a .cu file or a .ptx file; for .ptx, --entry names the kernel "
        "and --arg is given once for each parameter, in order");
    app.add_option("--kernel", kernel_, "the kernel to run (default: the task's own)")
        ->type_name("FILE.cu")
        ->group("Task");
    const std::string launch = "Launch (.ptx only)";
    app.add_option("--grid", ptx_.grid, "blocks: x, or x,y, or x,y,z")
        ->type_name("X,Y,Z")
        ->check(WholeNumbers(uint32_t{1}))
        ->delimiter(',')
        ->expected(1, 3)
        ->group(launch);
    app.add_option("--block", ptx_.block, "threads of a block: x, or x,y, or x,y,z")
        ->type_name("X,Y,Z")
        ->check(WholeNumbers(uint32_t{1}))
        ->delimiter(',')
        ->expected(1, 3)
        ->group(launch);
    app.add_option("--dynamic-shared", ptx_.dynamic_shared_bytes, "dynamic shared memory")
        ->type_name("BYTES")
        ->check(WholeNumbers(uint64_t{0}))
        ->capture_default_str()
        ->group(launch);
    app.add_option("--seed", ptx_.seed, "seed of the inputs")
        ->type_name("N")
        ->check(WholeNumbers(uint64_t{0}))
        ->capture_default_str()
        ->group("Checks");
    app.add_option("--step-limit", step_limit_, "thread instructions after which a run is ended")
        ->type_name("N")
        ->check(WholeNumbers(uint64_t{1}))
        ->capture_default_str()
        ->group("Checks");
    app.add_flag("--shadow", shadow_,
                 "follow floating-point values in double arithmetic: the worst error of each "
                 "output and the line where it is born")
        ->group("Checks");
    app.add_option("--lines", view_.lines, "source lines shown for each launch")
        ->type_name("N")
        ->check(WholeNumbers(0))
        ->capture_default_str()
        ->group("Output");
    app.add_flag("--json", json_, "print the result as JSON")->group("Output");
  }

  Result<int> Run(CliEnv& env, Toolbox& tools) override {
    const bool is_ptx = std::filesystem::path(task_.path).extension() == ".ptx";
    if (is_ptx && !kernel_.empty()) {
      return Error(ErrorCode::kInvalidArgument, "--kernel: a .ptx file is the kernel itself");
    }
    return is_ptx ? EmulatePtx(env, tools) : EmulateTask(env, tools);
  }

 private:
  Result<int> EmulatePtx(CliEnv& env, Toolbox& tools) {
    ptx_.entry = task_.entry;
    ptx_.args = task_.args;
    ptx_.sizes = task_.checked;
    OPTIML_ASSIGN(PtxTarget target, MakePtxTarget(env.Resolve(task_.path), ptx_));
    RunRequest request;
    request.artifact = &target.artifact;
    request.plan = &target.plan;
    request.buffers = std::move(target.buffers);
    view_.title = target.title;
    return TraceAndShow(request, target.args, env, tools);
  }

  Result<int> EmulateTask(CliEnv& env, Toolbox& tools) {
    OPTIML_ASSIGN(const Workbench bench, MakeWorkbench(task_, env, tools));
    OPTIML_ASSIGN(const KernelSource source, ChooseKernel(*bench.task, kernel_, env));
    VerifierOptions options;
    options.first_seed = ptx_.seed;  // plans in host mode are for these inputs
    OPTIML_ASSIGN(const StageOutcome outcome,
                  RunStages(bench, source, Stage::kBuild, options, env, tools));
    if (!outcome.prepared) {
      *env.out << fmt::format("{}: {}\n", source.path(), DescribeOutcome(outcome.evaluation));
      return ExitCodeOfKernel(outcome.evaluation, kernel_.empty());
    }
    const size_t largest = LargestPlan(outcome.prepared->checked_plans);
    const SizeRow& row = bench.task->checked[largest];
    OPTIML_ASSIGN(const TaskInputs inputs, MakeInputs(*bench.task, row.sizes, ptx_.seed));
    RunRequest request;
    request.artifact = &outcome.prepared->artifact;
    request.plan = &outcome.prepared->checked_plans[largest];
    request.buffers = ContentsFor(*bench.task, *request.plan, {&inputs, PoisonFor(*bench.task)});
    view_.title = fmt::format("{} at {}", bench.task->name, inputs.text);
    view_.source_text = source.text();
    return TraceAndShow(request, bench.task->args, env, tools);
  }

  Result<int> TraceAndShow(RunRequest& request, const std::vector<ArgSpec>& args, CliEnv& env,
                           Toolbox& tools) {
    DeviceChoice choice;
    choice.description = task_.description;
    choice.stop = env.stop;
    OPTIML_ASSIGN(const auto emulator, tools.MakeEmulator(choice));
    request.checks = CheckLevel::kFull;
    request.step_limit = step_limit_;
    view_.shadow = shadow_;
    if (shadow_) {
      FollowOutputs(args, request);
    }
    OPTIML_ASSIGN(const TraceOutcome trace, emulator->Trace(request));
    if (json_) {
      *env.out << EmulationJson(trace, view_)
                      .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
               << "\n";
    } else {
      *env.out << EmulationText(trace, view_);
    }
    const bool clean = trace.run.status == RunStatus::kCompleted && trace.run.findings.empty();
    return clean ? kExitDone : kExitNothingKept;
  }

  TaskOptions task_;
  PtxLaunchOptions ptx_;
  EmulationView view_;
  std::string kernel_;
  uint64_t step_limit_ = RunRequest().step_limit;
  bool shadow_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeEmulateCommand() {
  return std::make_unique<EmulateCommand>();
}

}  // namespace optiml
