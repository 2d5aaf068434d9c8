#include "oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "task/inputs.h"
#include "verify/plan_runner.h"

namespace optiml {
namespace {

constexpr uint64_t kStepLimit = 20'000'000;
constexpr int64_t kMaxElements = 40'000;  // of one buffer: larger rows tell nothing more
constexpr uint64_t kSeeds[] = {1001, 1002, 1003};
constexpr uint8_t kPoison = 0x5A;

// Rows of our own: those of the task, and each of their sizes one or three larger.
std::vector<SizeBindings> RowsOf(const KernelTask& task) {
  std::vector<SizeBindings> rows;
  std::set<SizeBindings> seen;
  const auto add = [&](const SizeBindings& row) {
    if (seen.insert(row).second) {
      rows.push_back(row);
    }
  };
  for (const SizeRow& row : task.checked) {
    add(row.sizes);
    SizeBindings all = row.sizes;
    for (auto& [name, value] : all) {
      value += 2;
    }
    add(all);
    for (const auto& [name, value] : row.sizes) {
      for (const int64_t more : {1, 3}) {
        SizeBindings changed = row.sizes;
        changed[name] += more;
        add(changed);
      }
    }
  }
  return rows;
}

bool IsSmall(const KernelTask& task, const SizeBindings& sizes) {
  for (const ArgSpec& arg : task.args) {
    if (!arg.is_buffer) {
      continue;
    }
    const auto shape = ShapeOf(task, arg, sizes);
    if (!shape) {
      return false;
    }
    int64_t elements = 1;
    for (const int64_t extent : *shape) {
      elements *= extent;
    }
    if (elements < 1 || elements > kMaxElements) {
      return false;
    }
  }
  return true;
}

Result<PlanResult> Execute(const KernelTask& task, const PreparedSource& source, size_t request,
                           const TaskInputs& inputs, Device& device) {
  PlanRun run;
  run.artifact = &source.artifact;
  run.plan = &source.plans[request];
  run.passes = {{&inputs, kPoison}};
  run.checks = CheckLevel::kFull;
  run.step_limit = kStepLimit;
  return RunPlan(task, run, device);
}

// The largest difference of two outputs in units of what another order of summation may change.
double RoundingRatio(const Tensor& a, const Tensor& b) {
  const double unit = a.dtype == DType::kF64 ? 0x1p-50 : a.dtype == DType::kF32 ? 0x1p-20 : 0x1p-9;
  const size_t bytes = DTypeBytes(a.dtype);
  const size_t count = a.bytes.size() / bytes;
  double square = 0;
  for (size_t i = 0; i < count; ++i) {
    const double v = LoadElement(a.dtype, a.bytes.data() + i * bytes);
    square += std::isfinite(v) ? v * v : 0;
  }
  const double scale = std::sqrt(square / static_cast<double>(std::max<size_t>(count, 1)));
  double worst = 0;
  for (size_t i = 0; i < count; ++i) {
    const double v = LoadElement(a.dtype, a.bytes.data() + i * bytes);
    const double w = LoadElement(b.dtype, b.bytes.data() + i * bytes);
    if (std::isnan(v) && std::isnan(w)) {
      continue;
    }
    const double ratio = v == w ? 0 : std::abs(v - w) / (unit * std::max(std::abs(v), scale));
    worst = std::isnan(ratio) ? INFINITY : std::max(worst, ratio);
  }
  return worst;
}

}  // namespace

Result<std::unique_ptr<Oracle>> Oracle::Make(const KernelTask& task, Builder& builder,
                                             Device& device) {
  std::unique_ptr<Oracle> oracle(new Oracle(task, builder, device));
  OPTIML_TRY(oracle->MakeRuns());
  return oracle;
}

Result<void> Oracle::MakeRuns() {
  for (const SizeBindings& sizes : RowsOf(task_)) {
    if (!IsSmall(task_, sizes)) {
      continue;
    }
    PlanRequest request;
    request.sizes = sizes;
    Evaluation evaluation;
    // A row that the launcher cannot serve is none.
    OPTIML_ASSIGN(const auto prepared, PrepareSource(task_, task_.source, true, {request}, builder_,
                                                     device_.Info().architecture, evaluation));
    const auto* original = std::get_if<PreparedSource>(&prepared);
    for (const uint64_t seed : kSeeds) {
      auto inputs = MakeInputs(task_, sizes, seed);
      if (original == nullptr || !inputs) {
        break;
      }
      // The scalars of the seed, too.
      PlanRequest varied = request;
      varied.scalars = inputs->scalars;
      OPTIML_ASSIGN(const auto again, PrepareSource(task_, task_.source, true, {varied}, builder_,
                                                    device_.Info().architecture, evaluation));
      OPTIML_ASSIGN(PlanResult result,
                    Execute(task_, std::get<PreparedSource>(again), 0, *inputs, device_));
      if (result.outcome.status != RunStatus::kCompleted || !result.outcome.findings.empty()) {
        break;
      }
      requests_.push_back(varied);
      runs_.push_back({*std::move(inputs), requests_.size() - 1, std::move(result.buffers)});
    }
  }
  if (runs_.empty()) {
    return Error(ErrorCode::kInvalidArgument, task_.name + ": the original runs nowhere");
  }
  return {};
}

Result<void> Oracle::Compare(const PreparedSource& mutant, const Run& run, OracleVerdict& verdict) {
  OPTIML_ASSIGN(const PlanResult result, Execute(task_, mutant, run.request, run.inputs, device_));
  ++verdict.runs;
  if (result.outcome.status != RunStatus::kCompleted || !result.outcome.findings.empty() ||
      !result.changed_input.empty()) {
    const std::string why =
        !result.changed_input.empty() ? "changes " + result.changed_input
        : result.outcome.findings.empty()
            ? result.outcome.reason
            : result.outcome.findings.front().kind + ": " + result.outcome.findings.front().detail;
    if (verdict.difference < Difference::kFault) {
      verdict.difference = Difference::kFault;
      verdict.detail = fmt::format("{}: {}", run.inputs.text, why);
    }
    return {};
  }
  size_t buffer = 0;
  for (const ArgSpec& arg : task_.args) {
    if (!arg.is_buffer) {
      continue;
    }
    const Tensor& was = run.original[buffer];
    const Tensor& is = result.buffers[buffer++];
    if ((arg.role != ArgRole::kOut && arg.role != ArgRole::kInOut) || was.bytes == is.bytes) {
      continue;
    }
    const double ratio = IsFloat(arg.dtype) ? RoundingRatio(was, is) : INFINITY;
    const Difference difference = ratio <= 1 ? Difference::kRounding : Difference::kOutput;
    if (verdict.difference < difference) {
      verdict.difference = difference;
      verdict.detail =
          fmt::format("{}: {} differs by {:.3g} roundings", run.inputs.text, arg.name, ratio);
    }
  }
  return {};
}

Result<OracleVerdict> Oracle::Judge(const KernelSource& mutant) {
  OracleVerdict verdict;
  Evaluation evaluation;
  OPTIML_ASSIGN(const auto prepared, PrepareSource(task_, mutant, false, requests_, builder_,
                                                   device_.Info().architecture, evaluation));
  if (const auto* rejection = std::get_if<Rejection>(&prepared)) {
    verdict.difference = Difference::kUnusable;
    verdict.detail = rejection->reason;
    return verdict;
  }
  for (const Run& run : runs_) {
    if (verdict.difference >= Difference::kFault) {
      break;  // nothing is learned any more
    }
    OPTIML_TRY(Compare(std::get<PreparedSource>(prepared), run, verdict));
  }
  return verdict;
}

}  // namespace optiml
