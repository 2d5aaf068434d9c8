// Counts .cu files of one task on the emulator and predicts their times.
//
//   count_kernels TASK SIZES OUT.json NAME=FILE.cu ...        (SIZES: rows=8192,cols=8192)
//
// OUT.json has one row a kernel: what was counted, the prediction and its parts. Together with the
// times of bench/gpu/time_kernels.py for the same names it is the material of fit_time_model.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "build/builder.h"
#include "device/emulator_device.h"
#include "frontend/frontend.h"
#include "task/inputs.h"
#include "task/launcher_scan.h"
#include "task/task.h"
#include "work_json.h"

namespace optiml {
namespace {

using Json = nlohmann::json;

Error Refused(const Refusal& refusal) {
  return {ErrorCode::kInvalidArgument, refusal.reason};
}

Result<Json> CountKernel(const KernelTask& task, const SizeBindings& sizes,
                         const TaskInputs& inputs, const fs::path& file, Builder& builder,
                         EmulatorDevice& device) {
  OPTIML_ASSIGN(std::string text, ReadFile(file));
  const KernelSource source(std::move(text), task.source.entry(), file.string());
  OPTIML_ASSIGN(const ParseOutcome parsed, ParseSource(source));
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) {
    return Refused(*refusal);
  }
  const auto& unit = std::get<ast::SourceUnit>(parsed);
  OPTIML_ASSIGN(const auto arguments, BindArguments(task, sizes, inputs.scalars));
  const PlanOutcome planned = MakeLaunchPlan(unit, task.source.entry(), arguments);
  if (const auto* refusal = std::get_if<Refusal>(&planned)) {
    return Refused(*refusal);
  }
  const auto& plan = std::get<LaunchPlan>(planned);
  BuildRequest build;
  build.device_text = unit.device_text;
  build.file_name = file.filename().string();
  build.name_expressions = plan.Kernels();
  OPTIML_ASSIGN(const BuildOutcome built, builder.Build(build));
  if (const auto* failure = std::get_if<BuildFailure>(&built)) {
    return Error(ErrorCode::kInvalidArgument, failure->first_error);
  }

  RunRequest request;
  request.artifact = &std::get<Artifact>(built);
  request.plan = &plan;
  size_t next = 0;
  for (const ArgSpec& arg : task.args) {
    if (arg.is_buffer) {
      BufferContents buffer;
      buffer.element_bytes = static_cast<uint32_t>(DTypeBytes(arg.dtype));
      buffer.read_only = arg.role == ArgRole::kIn;
      const Tensor& tensor = inputs.buffers.at(next++);
      if (arg.role == ArgRole::kIn || arg.role == ArgRole::kInOut) {
        buffer.bytes = tensor.bytes;
      }
      request.buffers.push_back(std::move(buffer));
    }
  }
  const SystemClock clock;
  const Stopwatch stopwatch(clock);
  OPTIML_ASSIGN(const CountOutcome counted, device.Count(request));
  if (counted.status != RunStatus::kCompleted) {
    return Error(ErrorCode::kInvalidArgument, counted.reason);
  }
  const PlanTimes times = PredictPlan(counted.work, device.description());
  Json parts = Json::array();
  for (const StepTimes& step : times.steps) {
    parts.push_back({{"overhead_s", step.overhead_s},
                     {"transfer_s", step.transfer_s},
                     {"total_s", step.launch.total},
                     {"occupancy", step.launch.occupancy.ratio},
                     {"waves", step.launch.waves},
                     {"parts", step.launch.Parts()}});
  }
  return Json{{"predicted_s", times.seconds},
              {"counting_s", Seconds(stopwatch.Elapsed()).count()},
              {"steps", parts},
              {"work", ToJson(counted.work)}};
}

Result<void> Count(const fs::path& task_path, const std::string& sizes_text, const fs::path& out,
                   const std::vector<std::string>& kernels) {
  OPTIML_ASSIGN(const KernelTask task, LoadTask(task_path));
  OPTIML_ASSIGN(const SizeBindings sizes, ParseSizes(sizes_text));
  OPTIML_ASSIGN(const TaskInputs inputs, MakeInputs(task, sizes, 1));
  OPTIML_ASSIGN(const auto device, EmulatorDevice::Make({}));
  const auto builder = MakeNvrtcBuilder({});
  Json rows = Json::array();
  for (const std::string& kernel : kernels) {
    const size_t equals = kernel.find('=');
    const std::string name = kernel.substr(0, equals);
    const fs::path file = equals == std::string::npos ? kernel : kernel.substr(equals + 1);
    auto row = CountKernel(task, sizes, inputs, file, *builder, *device);
    if (!row.has_value()) {
      fmt::print("  {:28} FAILED {}\n", name, row.error().message());
      continue;
    }
    fmt::print("  {:28} {:9.4f} ms predicted, counted in {:.2f} s, bound by", name,
               (*row)["predicted_s"].get<double>() * 1e3, (*row)["counting_s"].get<double>());
    for (const Json& step : (*row)["steps"]) {
      std::string best;
      double longest = 0;
      for (const auto& [part, seconds] : step["parts"].items()) {
        if (seconds.get<double>() > longest) {
          longest = seconds.get<double>();
          best = fmt::format(" {} {:.4f}", part, longest * 1e3);
        }
      }
      fmt::print("{}", best);
    }
    fmt::print("\n");
    std::fflush(stdout);
    (*row)["kernel"] = name;
    rows.push_back(*std::move(row));
  }
  const Json result = {{"task", task.name}, {"sizes", sizes}, {"rows", rows}};
  return WriteFileAtomically(out, result.dump(1));
}

}  // namespace
}  // namespace optiml

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: count_kernels TASK SIZES OUT.json NAME=FILE.cu ...\n");
    return 2;
  }
  const auto done =
      optiml::Count(argv[1], argv[2], argv[3], std::vector<std::string>(argv + 4, argv + argc));
  if (!done.has_value()) {
    fmt::print(stderr, "count_kernels: {}\n", done.error().message());
    return 3;
  }
  return 0;
}
