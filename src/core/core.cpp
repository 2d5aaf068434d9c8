// The small functions of the plain structs in this folder.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "core/artifact.h"
#include "core/edit.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "core/launch_plan.h"
#include "core/metrics.h"

namespace optiml {
namespace {

struct StageRow {
  Stage stage;
  const char* name;
};
constexpr std::array<StageRow, 11> kStages = {{{Stage::kApply, "apply"},
                                               {Stage::kParse, "parse"},
                                               {Stage::kPlan, "plan"},
                                               {Stage::kBuild, "build"},
                                               {Stage::kL0, "L0"},
                                               {Stage::kL1, "L1"},
                                               {Stage::kL2, "L2"},
                                               {Stage::kFloor, "floor"},
                                               {Stage::kMeasure, "measure"},
                                               {Stage::kProfile, "profile"},
                                               {Stage::kDelivered, "delivered"}}};

std::string FormatPointer(const LaunchPlan& plan, const DevicePointer& pointer) {
  if (pointer.buffer < 0) {
    return pointer.offset_bytes == 0 ? "null" : fmt::format("null+{}", pointer.offset_bytes);
  }
  const std::string& name = plan.buffers[static_cast<size_t>(pointer.buffer)].name;
  return pointer.offset_bytes == 0 ? name : fmt::format("{}{:+}", name, pointer.offset_bytes);
}

std::string FormatBytes(const std::vector<std::byte>& bytes) {
  std::string text = "0x";
  for (auto it = bytes.rbegin(); it != bytes.rend(); ++it) {
    text += fmt::format("{:02x}", static_cast<unsigned>(*it));
  }
  return text;
}

std::string FormatDim(const Dim3& d) {
  return fmt::format("{}x{}x{}", d.x, d.y, d.z);
}

struct StepFormatter {
  const LaunchPlan& plan;

  std::string operator()(const KernelLaunch& launch) const {
    std::string text = fmt::format("launch {} grid {} block {}", launch.kernel,
                                   FormatDim(launch.grid), FormatDim(launch.block));
    if (launch.cluster != Dim3{}) {
      text += " cluster " + FormatDim(launch.cluster);
    }
    if (launch.dynamic_shared_bytes != 0) {
      text += fmt::format(" shared {}", launch.dynamic_shared_bytes);
    }
    text += launch.cooperative ? " cooperative (" : " (";
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      text += i == 0 ? "" : ", ";
      if (const auto* pointer = std::get_if<DevicePointer>(&launch.arguments[i])) {
        text += FormatPointer(plan, *pointer);
      } else if (const auto* with = std::get_if<StructArgument>(&launch.arguments[i])) {
        text += FormatBytes(with->bytes);
        for (const StructArgument::Pointer& held : with->pointers) {
          text += fmt::format(" {} at {}", FormatPointer(plan, held.value), held.position);
        }
      } else if (const auto* map = std::get_if<TensorMapArgument>(&launch.arguments[i])) {
        text +=
            fmt::format("tensor map of {} type {} size {} strides {} box {} steps {} {}/{}/{}/{}",
                        FormatPointer(plan, map->tensor), map->data_type,
                        fmt::join(map->dimensions, "x"), fmt::join(map->strides_bytes, "x"),
                        fmt::join(map->box, "x"), fmt::join(map->element_strides, "x"),
                        map->interleave, map->swizzle, map->promotion, map->fill);
      } else {
        text += FormatBytes(std::get<std::vector<std::byte>>(launch.arguments[i]));
      }
    }
    return text + ")";
  }
  std::string operator()(const MemsetStep& step) const {
    return fmt::format("memset {} value {} bytes {}", FormatPointer(plan, step.destination),
                       step.value, step.size_bytes);
  }
  std::string operator()(const CopyStep& step) const {
    return fmt::format("copy {} from {} bytes {}", FormatPointer(plan, step.destination),
                       FormatPointer(plan, step.source), step.size_bytes);
  }
  std::string operator()(const UploadStep& step) const {
    return fmt::format("upload {} bytes {} hash {}", FormatPointer(plan, step.destination),
                       step.bytes.size(), ContentHash::Of(step.bytes).Hex().substr(0, 12));
  }
  std::string operator()(const AttributeStep& step) const {
    return fmt::format("attribute {} {} {}", step.kernel, step.attribute, step.value);
  }
};

}  // namespace

std::string SizeRow::Text() const {
  std::string text;
  for (const auto& [name, value] : sizes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

const ArgSpec* KernelTask::FindArg(const std::string& arg_name) const {
  const auto found = std::find_if(args.begin(), args.end(),
                                  [&](const ArgSpec& arg) { return arg.name == arg_name; });
  return found == args.end() ? nullptr : &*found;
}

std::vector<std::string> LaunchPlan::Kernels() const {
  std::vector<std::string> kernels;
  for (const LaunchStep& step : steps) {
    const auto* launch = std::get_if<KernelLaunch>(&step);
    if (launch != nullptr &&
        std::find(kernels.begin(), kernels.end(), launch->kernel) == kernels.end()) {
      kernels.push_back(launch->kernel);
    }
  }
  return kernels;
}

std::string LaunchPlan::Format() const {
  std::string text;
  for (const PlanBuffer& buffer : buffers) {
    const std::string what = !buffer.symbol.empty() ? " module variable " + buffer.symbol
                             : buffer.argument >= 0 ? ""
                                                    : " scratch";
    text += fmt::format("buffer {} {} bytes{}\n", buffer.name, buffer.size_bytes, what);
  }
  for (const LaunchStep& step : steps) {
    text += std::visit(StepFormatter{*this}, step) + "\n";
  }
  return text;
}

std::string BoundName(Bound bound) {
  switch (bound) {
    case Bound::kUnknown:
      return "unknown";
    case Bound::kMemory:
      return "memory";
    case Bound::kCompute:
      return "compute";
    case Bound::kLatency:
      return "latency";
    case Bound::kOccupancy:
      return "occupancy";
  }
  return "unknown";
}

std::string Edit::Label() const {
  std::string label = rewrite;
  if (!parameters.empty()) {
    std::string inner;
    for (const auto& [name, value] : parameters) {
      inner += fmt::format("{}{}={}", inner.empty() ? "" : ", ", name, value);
    }
    label += fmt::format("({})", inner);
  }
  if (origin == EditOrigin::kModel) {
    label += " " + ContentHash::Of(text).Hex().substr(0, 8);
  }
  return label;
}

const KernelResources* Artifact::FindKernel(const std::string& name_expression) const {
  for (const KernelResources& kernel : kernels) {
    if (kernel.name_expression == name_expression) {
      return &kernel;
    }
  }
  return nullptr;
}

std::string ProfileSourceName(ProfileSource source) {
  switch (source) {
    case ProfileSource::kEmulator:
      return "emulator";
    case ProfileSource::kCupti:
      return "CUPTI";
    case ProfileSource::kNcu:
      return "ncu";
    case ProfileSource::kStatic:
      return "static";
  }
  return "static";
}

std::optional<double> Profile::Get(const MetricId& id) const {
  const auto found = metrics.find(id);
  return found == metrics.end() ? std::nullopt : std::optional<double>(found->second.value);
}

std::string StageName(Stage stage) {
  return kStages[static_cast<size_t>(stage)].name;
}

std::optional<Stage> ParseStage(const std::string& name) {
  for (const StageRow& row : kStages) {
    if (name == row.name) {
      return row.stage;
    }
  }
  return std::nullopt;
}

double Evaluation::TimeSeconds() const {
  OPTIML_CHECK(!timings.empty(), "an evaluation without timings has no time");
  double log_sum = 0;
  for (const Timing& timing : timings) {
    log_sum += std::log(timing.median_s);
  }
  return std::exp(log_sum / static_cast<double>(timings.size()));
}

}  // namespace optiml
