// CheckLauncher: a plan is made from one call of a launcher that starts anew. It stands for every
// later call only if calls do not depend on each other, nor on where the launcher runs.

#include "frontend/launcher_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/frontend.h"
#include "frontend/interpreter.h"
#include "frontend/launcher_entry.h"

namespace optiml {

namespace {

struct Difference {
  std::string what;
  int line = 0;
};

std::string Name(const LaunchStep& step) {
  if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
    return "the launch of " + launch->kernel;
  }
  return std::holds_alternative<MemsetStep>(step) ? "the memset"
         : std::holds_alternative<CopyStep>(step) ? "the copy"
                                                  : "the upload";
}

int LineOf(const LaunchStep& step) {
  return std::visit([](const auto& one) { return one.line; }, step);
}

// Attributes of kernels stay what they were set to: it is the same to set them once or again.
std::vector<const LaunchStep*> Work(const LaunchPlan& plan) {
  std::vector<const LaunchStep*> work;
  for (const LaunchStep& step : plan.steps) {
    if (!std::holds_alternative<AttributeStep>(step)) {
      work.push_back(&step);
    }
  }
  return work;
}

// Two plans' work, where memory that the launcher allocates may be another buffer, and a larger
// one.
class PlanMatcher {
 public:
  PlanMatcher(const LaunchPlan& fresh, const LaunchPlan& later) : fresh_(fresh), later_(later) {}

  std::optional<Difference> Compare() {
    const auto fresh = Work(fresh_);
    const auto later = Work(later_);
    for (size_t i = 0; i < std::min(fresh.size(), later.size()); ++i) {
      if (!std::visit([&](const auto& a) { return SameStep(a, *later[i]); }, *fresh[i])) {
        return Difference{
            Name(*fresh[i]) + (later.size() < fresh.size() ? " is missing" : " is another one"),
            LineOf(*fresh[i])};
      }
    }
    if (fresh.size() > later.size()) {
      return Difference{Name(*fresh[later.size()]) + " is missing", LineOf(*fresh[later.size()])};
    }
    if (later.size() > fresh.size()) {
      return Difference{Name(*later[fresh.size()]) + " is added", LineOf(*later[fresh.size()])};
    }
    for (const auto& [from, to] : scratch_) {
      const PlanBuffer& needed = fresh_.buffers[static_cast<size_t>(from)];
      const uint64_t has = later_.buffers[static_cast<size_t>(to)].size_bytes;
      if (has < needed.size_bytes) {
        return Difference{fmt::format("buffer \"{}\" has {} bytes, and not the {} that are needed",
                                      needed.name, has, needed.size_bytes),
                          needed.line};
      }
    }
    return std::nullopt;
  }

 private:
  bool Same(const DevicePointer& a, const DevicePointer& b) {
    if (a.offset_bytes != b.offset_bytes || (a.buffer < 0) != (b.buffer < 0)) {
      return false;
    }
    if (a.buffer < 0) {
      return true;
    }
    const int argument = fresh_.buffers[static_cast<size_t>(a.buffer)].argument;
    if (argument >= 0 || later_.buffers[static_cast<size_t>(b.buffer)].argument >= 0) {
      return argument == later_.buffers[static_cast<size_t>(b.buffer)].argument;
    }
    if (fresh_.buffers[static_cast<size_t>(a.buffer)].symbol !=
        later_.buffers[static_cast<size_t>(b.buffer)].symbol) {
      return false;
    }
    const auto there = scratch_.try_emplace(a.buffer, b.buffer).first;
    const auto back = back_.try_emplace(b.buffer, a.buffer).first;
    return there->second == b.buffer && back->second == a.buffer;
  }

  bool Same(const KernelArgument& a, const KernelArgument& b) {
    const auto* from = std::get_if<DevicePointer>(&a);
    const auto* to = std::get_if<DevicePointer>(&b);
    if (from != nullptr && to != nullptr) {
      return Same(*from, *to);
    }
    const auto* one = std::get_if<StructArgument>(&a);
    const auto* other = std::get_if<StructArgument>(&b);
    if (one == nullptr || other == nullptr) {
      return a == b;
    }
    return one->bytes == other->bytes &&
           std::equal(one->pointers.begin(), one->pointers.end(), other->pointers.begin(),
                      other->pointers.end(), [&](const auto& p, const auto& q) {
                        return p.position == q.position && Same(p.value, q.value);
                      });
  }

  bool SameStep(const KernelLaunch& a, const LaunchStep& other) {
    const auto* b = std::get_if<KernelLaunch>(&other);
    if (b == nullptr || a.kernel != b->kernel || a.grid != b->grid || a.block != b->block ||
        a.cluster != b->cluster || a.dynamic_shared_bytes != b->dynamic_shared_bytes ||
        a.cooperative != b->cooperative || a.arguments.size() != b->arguments.size()) {
      return false;
    }
    for (size_t i = 0; i < a.arguments.size(); ++i) {
      if (!Same(a.arguments[i], b->arguments[i])) {
        return false;
      }
    }
    return true;
  }
  bool SameStep(const MemsetStep& a, const LaunchStep& other) {
    const auto* b = std::get_if<MemsetStep>(&other);
    return b != nullptr && Same(a.destination, b->destination) && a.value == b->value &&
           a.size_bytes == b->size_bytes;
  }
  bool SameStep(const CopyStep& a, const LaunchStep& other) {
    const auto* b = std::get_if<CopyStep>(&other);
    return b != nullptr && Same(a.destination, b->destination) && Same(a.source, b->source) &&
           a.size_bytes == b->size_bytes;
  }
  bool SameStep(const UploadStep& a, const LaunchStep& other) {
    const auto* b = std::get_if<UploadStep>(&other);
    return b != nullptr && Same(a.destination, b->destination) && a.bytes == b->bytes;
  }
  bool SameStep(const AttributeStep&, const LaunchStep&) { return true; }

  const LaunchPlan& fresh_;
  const LaunchPlan& later_;
  std::map<int, int> scratch_;  // buffers of the fresh plan to those of the later one
  std::map<int, int> back_;
};

}  // namespace

namespace frontend {

std::optional<Refusal> CompareWork(const ast::SourceUnit& unit, const ast::Function& launcher,
                                   const LaunchPlan& fresh, const LaunchPlan& later,
                                   std::string_view when) {
  const auto difference = PlanMatcher(fresh, later).Compare();
  if (!difference) {
    return std::nullopt;
  }
  const int line = difference->line > 0 ? difference->line : launcher.line;
  return Refusal{fmt::format("{}:{}: launcher does something else {}: {}", unit.path, line, when,
                             difference->what),
                 line};
}

Refusal Said(const Refusal& refusal, std::string_view when) {
  Refusal said = refusal;
  said.reason += fmt::format(" ({})", when);
  return said;
}

}  // namespace frontend

using frontend::CompareWork;

std::optional<Refusal> CheckLauncher(const ast::SourceUnit& unit, const std::string& entry,
                                     const std::vector<LauncherCall>& calls,
                                     const PlanLimits& limits) {
  const auto found = frontend::FindEntry(unit, entry);
  if (const auto* refusal = std::get_if<Refusal>(&found)) {
    return *refusal;
  }
  const ast::Function& launcher = *std::get<const ast::Function*>(found);
  try {
    frontend::Interpreter process(unit, limits);
    for (const LauncherCall& call : calls) {
      const LaunchPlan after_others = process.Run(launcher, *call.arguments);
      if (auto refusal =
              CompareWork(unit, launcher, *call.plan, after_others, frontend::kAfterOthers)) {
        return refusal;
      }
      const auto before = process.Remember();
      const LaunchPlan again = process.Run(launcher, *call.arguments);
      if (auto refusal = CompareWork(unit, launcher, *call.plan, again, frontend::kCalledAgain)) {
        return refusal;
      }
      if (const std::string name = process.Changed(before); !name.empty()) {
        return Refusal{fmt::format("{}:{}: launcher keeps state between its calls: every call "
                                   "changes {}",
                                   unit.path, launcher.line, name),
                       launcher.line};
      }
    }
  } catch (const frontend::Refused& refused) {
    return frontend::Said(refused.refusal, frontend::kCalledAgain);
  }
  try {
    for (const LauncherCall& call : calls) {
      const LaunchPlan elsewhere =
          frontend::Interpreter(unit, limits, frontend::Surroundings::kOther)
              .Run(launcher, *call.arguments);
      if (auto refusal = CompareWork(unit, launcher, *call.plan, elsewhere, frontend::kElsewhere)) {
        return refusal;
      }
    }
  } catch (const frontend::Refused& refused) {
    return frontend::Said(refused.refusal, frontend::kElsewhere);
  }
  return std::nullopt;
}

}  // namespace optiml
