#include "verify/live_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "device/symbol_names.h"

namespace optiml {
namespace {

// The buffers of a plan that belong to arguments, which are its first ones.
LaunchPlan ArgumentsOnly(const KernelTask& task, const TaskInputs& inputs) {
  LaunchPlan plan;
  size_t next = 0;
  for (size_t i = 0; i < task.args.size(); ++i) {
    if (task.args[i].is_buffer) {
      plan.buffers.push_back(
          {task.args[i].name, static_cast<int>(i), inputs.buffers[next++].bytes.size(), 0});
    }
  }
  return plan;
}

}  // namespace

LiveMachine::LiveMachine(const Of& of, std::vector<PassRun> calls)
    : of_(of), calls_(std::move(calls)), steps_left_(of.step_limit) {
  for (const ptx::Variable& variable : of.module.variables) {
    // Constants are kept when the launcher names them: no kernel writes one.
    if (variable.space == ptx::Space::kGlobal && variable.bytes > 0 &&
        !variable.name.starts_with('$')) {
      kept_.push_back({variable.name, {}, variable.bytes});
    }
  }
}

Result<bool> LiveMachine::Begin(size_t call) {
  OPTIML_CHECK(call < calls_.size(), "a live run makes the calls that it was asked for");
  call_ = call;
  executed_ = 0;
  const PassRun& pass = calls_[call];
  const LaunchPlan arguments = ArgumentsOnly(of_.task, *pass.inputs);
  std::vector<BufferContents> contents = ContentsFor(of_.task, arguments, pass);
  slots_.resize(std::max(slots_.size(), contents.size()));
  for (size_t i = 0; i < contents.size(); ++i) {
    if (contents[i].bytes.empty()) {
      contents[i].bytes.assign(arguments.buffers[i].size_bytes, std::byte{pass.poison});
    }
    slots_[i] = std::move(contents[i]);
  }
  return true;
}

LiveMachine::Kept* LiveMachine::KeptOf(const PlanBuffer& buffer) {
  if (buffer.symbol.empty()) {
    return nullptr;
  }
  const std::string name = VariableName(of_.module, buffer.symbol);
  if (name.empty()) {
    return nullptr;  // no kernel uses it: memory like any other
  }
  const auto found = std::ranges::find(kept_, name, &Kept::symbol);
  if (found != kept_.end()) {
    return &*found;
  }
  kept_.push_back({name, {}, buffer.size_bytes});
  return &kept_.back();
}

BufferContents& LiveMachine::Slot(const LaunchPlan& plan, size_t buffer) {
  slots_.resize(std::max(slots_.size(), plan.buffers.size()));
  BufferContents& slot = slots_[buffer];
  if (slot.bytes.empty()) {
    slot.bytes.assign(plan.buffers[buffer].size_bytes, std::byte{calls_[call_].poison});
  }
  return slot;
}

LiveMachine::Segment LiveMachine::Begun(const LaunchPlan& plan) {
  Segment segment;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    PlanBuffer buffer = plan.buffers[i];
    if (KeptOf(buffer) == nullptr) {
      buffer.symbol.clear();
      buffer.argument = static_cast<int>(i);
      segment.request.buffers.push_back(std::move(Slot(plan, i)));
      segment.slots.push_back(i);
    }
    segment.plan.buffers.push_back(std::move(buffer));
  }
  for (const AttributeStep& attribute : attributes_) {
    segment.plan.steps.emplace_back(attribute);
  }
  return segment;
}

// Buffers for the variables' bytes, behind the plan's own: in before the steps, out behind them.
void LiveMachine::AddKept(Segment& segment) const {
  std::vector<LaunchStep> out;
  for (const Kept& kept : kept_) {
    const auto variable = static_cast<int>(segment.plan.buffers.size());
    segment.plan.buffers.push_back({kept.symbol, -1, kept.size_bytes, 0, kept.symbol});
    const int copy = variable + 1;
    segment.plan.buffers.push_back({kept.symbol, copy, kept.size_bytes, 0});
    BufferContents contents;
    contents.bytes = kept.bytes;
    segment.request.buffers.push_back(std::move(contents));
    if (!kept.bytes.empty()) {
      segment.plan.steps.emplace_back(CopyStep{{variable, 0}, {copy, 0}, kept.size_bytes, 0});
    }
    out.emplace_back(CopyStep{{copy, 0}, {variable, 0}, kept.size_bytes, 0});
  }
  segment.plan.steps.insert(segment.plan.steps.end(), out.begin(), out.end());
}

Result<bool> LiveMachine::Execute(const LaunchPlan& plan, bool in_any_case) {
  if (executed_ == plan.steps.size() && !in_any_case) {
    return true;
  }
  Segment segment = Begun(plan);
  const std::vector<LaunchStep> steps(plan.steps.begin() + static_cast<std::ptrdiff_t>(executed_),
                                      plan.steps.end());
  executed_ = plan.steps.size();
  AddKept(segment);
  // Between the copies in and the copies out.
  const auto at = segment.plan.steps.end() - static_cast<std::ptrdiff_t>(kept_.size());
  segment.plan.steps.insert(at, steps.begin(), steps.end());
  for (const LaunchStep& step : steps) {
    if (const auto* attribute = std::get_if<AttributeStep>(&step)) {
      attributes_.push_back(*attribute);
    }
  }
  segment.request.artifact = &of_.artifact;
  segment.request.plan = &segment.plan;
  segment.request.order = calls_[call_].order;
  segment.request.surroundings = of_.surroundings;
  segment.request.repeatable = of_.repeatable;
  segment.request.step_limit = steps_left_;
  OPTIML_ASSIGN(RunOutcome outcome, of_.device.Run(segment.request));
  if (outcome.status != RunStatus::kCompleted || !outcome.findings.empty()) {
    failure_ = std::move(outcome);
    return false;
  }
  if (outcome.buffers.size() != segment.slots.size() + kept_.size()) {
    return Error(ErrorCode::kInternal,
                 fmt::format("{} returned {} buffers for {}", of_.device.Info().name,
                             outcome.buffers.size(), segment.slots.size() + kept_.size()));
  }
  for (size_t i = 0; i < segment.slots.size(); ++i) {
    slots_[segment.slots[i]] = std::move(segment.request.buffers[i]);
    slots_[segment.slots[i]].bytes = std::move(outcome.buffers[i]);
  }
  for (size_t i = 0; i < kept_.size(); ++i) {
    kept_[i].bytes = std::move(outcome.buffers[segment.slots.size() + i]);
  }
  if (!outcome.pass_work.empty()) {
    steps_left_ -= std::min(steps_left_, outcome.pass_work.front());
  }
  return true;
}

Result<std::optional<std::vector<std::byte>>> LiveMachine::Read(const LaunchPlan& plan,
                                                                const DevicePointer& source,
                                                                uint64_t size_bytes) {
  using Bytes = std::vector<std::byte>;
  const auto buffer = static_cast<size_t>(source.buffer);
  const Kept* before = KeptOf(plan.buffers[buffer]);
  // What a variable holds before anything was executed is known to the device alone.
  OPTIML_ASSIGN(const bool done, Execute(plan, before != nullptr && before->bytes.empty()));
  if (!done) {
    return std::optional<Bytes>();
  }
  const Kept* kept = KeptOf(plan.buffers[buffer]);
  const Bytes& from = kept != nullptr ? kept->bytes : Slot(plan, buffer).bytes;
  const auto begin = from.begin() + source.offset_bytes;
  return std::optional(Bytes(begin, begin + static_cast<std::ptrdiff_t>(size_bytes)));
}

Result<bool> LiveMachine::End(const LaunchPlan& plan) {
  OPTIML_ASSIGN(const bool done, Execute(plan));
  if (!done) {
    return false;
  }
  const TaskInputs& inputs = *calls_[call_].inputs;
  const LaunchPlan arguments = ArgumentsOnly(of_.task, inputs);
  std::vector<std::vector<std::byte>> buffers;
  for (size_t i = 0; i < arguments.buffers.size(); ++i) {
    buffers.push_back(slots_[i].bytes);
  }
  outputs_.push_back(ByArgument(of_.task, arguments, std::move(buffers), inputs));
  return true;
}

}  // namespace optiml
