#include "rewrite/textual/text_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/metrics.h"
#include "rewrite/emit/launch_sites.h"

namespace optiml::rewrite {
namespace {

using Outcome = std::variant<std::vector<Replacement>, std::string>;

const char* const kNames[] = {"restrict", "bounds", "unroll", "threads"};

std::string TextOf(const ast::SourceUnit& unit, const ast::TextRange& range) {
  return unit.text.substr(range.begin, range.end - range.begin);
}

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The last place of `word` in the range, as a whole word.
std::optional<uint32_t> FindWord(const ast::SourceUnit& unit, const ast::TextRange& range,
                                 const std::string& word) {
  const std::string text = TextOf(unit, range);
  size_t at = text.rfind(word);
  while (at != std::string::npos) {
    const bool begins = at == 0 || !IsWord(text[at - 1]);
    const bool ends = at + word.size() >= text.size() || !IsWord(text[at + word.size()]);
    if (begins && ends) {
      return range.begin + static_cast<uint32_t>(at);
    }
    at = at == 0 ? std::string::npos : text.rfind(word, at - 1);
  }
  return std::nullopt;
}

Outcome Restrict(const TextKernel& kernel) {
  std::vector<Replacement> replacements;
  size_t pointer = 0;
  for (const int id : kernel.function->parameters) {
    const ast::Variable& parameter = kernel.unit->variables[static_cast<size_t>(id)];
    if (parameter.type->kind != ast::TypeKind::kPointer) {
      continue;
    }
    const size_t own = pointer++;
    if (parameter.type->is_restrict || parameter.range.in_macro) {
      continue;
    }
    bool distinct = !kernel.blocks.empty();
    for (size_t other = 0; other < kernel.buffers.size(); ++other) {
      for (size_t launch = 0; other != own && launch < kernel.buffers[own].size(); ++launch) {
        distinct = distinct && launch < kernel.buffers[other].size() &&
                   kernel.buffers[own][launch] != kernel.buffers[other][launch];
      }
    }
    const std::optional<uint32_t> name = FindWord(*kernel.unit, parameter.range, parameter.name);
    if (distinct && name) {
      replacements.push_back({*name, *name, "__restrict__ "});
    }
  }
  if (replacements.empty()) {
    return std::string("no pointer parameter is known to be distinct from all others");
  }
  return replacements;
}

Outcome Bounds(const TextKernel& kernel) {
  if (kernel.function->launch_bounds_threads || kernel.function->range.in_macro ||
      kernel.blocks.empty() || kernel.function->body == nullptr) {
    return std::string("the kernel has launch bounds, or none are known");
  }
  uint64_t threads = 0;
  for (const Dim3& block : kernel.blocks) {
    threads = std::max(threads, block.Count());
  }
  ast::TextRange head = kernel.function->range;
  head.end = kernel.function->body->range.begin;
  const std::string text = TextOf(*kernel.unit, head);
  const size_t at = text.find(kernel.function->name + "(");
  if (at == std::string::npos) {
    return std::string("the kernel's name is not followed by its parameters");
  }
  const uint32_t place = head.begin + static_cast<uint32_t>(at);
  return std::vector<Replacement>{{place, place, fmt::format("__launch_bounds__({}) ", threads)}};
}

void VisitLoops(const ast::StmtPtr& stmt, const std::function<void(const ast::Stmt&)>& visit) {
  if (stmt == nullptr) {
    return;
  }
  if (stmt->kind == ast::StmtKind::kFor) {
    visit(*stmt);
  }
  for (const ast::StmtPtr& child : stmt->children) {
    VisitLoops(child, visit);
  }
}

bool IsInnermost(const ast::Stmt& loop) {
  bool inner = false;
  for (const ast::StmtPtr& child : loop.children) {
    VisitLoops(child, [&](const ast::Stmt&) { inner = true; });
  }
  return !inner;
}

Outcome Unroll(const TextKernel& kernel, int64_t count) {
  std::vector<Replacement> replacements;
  VisitLoops(kernel.function->body, [&](const ast::Stmt& loop) {
    if (loop.unroll == 0 && !loop.range.in_macro && IsInnermost(loop)) {
      // The pragma gets a line of its own wherever the loop begins.
      replacements.push_back(
          {loop.range.begin, loop.range.begin, fmt::format("\n#pragma unroll {}\n", count)});
    }
  });
  if (replacements.empty()) {
    return std::string("no loop without a pragma");
  }
  return replacements;
}

// The literal that makes the block: the initial value of the one variable that a launch names as
// its block, where the grid's expression uses the same variable or blockDim does the rest.
Outcome Threads(const TextKernel& kernel, int64_t threads) {
  if (kernel.launched_by_task) {
    return std::string("the task's [launch] says the block");
  }
  std::vector<Replacement> replacements;
  std::set<int> variables;
  const std::vector<LaunchSite> sites = LaunchSitesOf(*kernel.unit, *kernel.function);
  for (const LaunchSite& site : sites) {
    if (site.range.in_macro || site.configuration.size() < 2) {
      return std::string("a launch is spelled by a macro");
    }
    const std::string block = TextOf(*kernel.unit, site.configuration[1]);
    bool found = false;
    for (const ast::Variable& variable : kernel.unit->variables) {
      const bool is_host =
          variable.storage == ast::Storage::kLocal || variable.storage == ast::Storage::kHostGlobal;
      if (!is_host || variable.name != block || variable.init == nullptr ||
          variable.type->kind != ast::TypeKind::kInt || variable.range.begin > site.range.begin) {
        continue;
      }
      const ast::Expr* value = variable.init.get();
      while (value->kind == ast::ExprKind::kCast && !value->operands.empty()) {
        value = value->operands[0].get();
      }
      if (value->kind != ast::ExprKind::kIntLiteral || value->range.in_macro) {
        continue;
      }
      found = true;
      if (value->int_value != threads && variables.insert(variable.id).second) {
        replacements.push_back({value->range.begin, value->range.end, std::to_string(threads)});
      }
    }
    if (!found) {
      return std::string("the block of a launch is not one variable with a literal value");
    }
  }
  for (const Dim3& block : kernel.blocks) {
    if (block.y != 1 || block.z != 1) {
      return std::string("the block has more than one dim");
    }
  }
  if (replacements.empty()) {
    return std::string("the block has that size already");
  }
  return replacements;
}

Edit Describe(const TextKernel& kernel, const std::string& name, const Parameters& parameters) {
  Edit edit;
  edit.origin = EditOrigin::kTextRewrite;
  edit.rewrite = name;
  edit.parameters = parameters;
  if (name == "restrict") {
    edit.summary = fmt::format("tell the compiler that the buffers of {} do not overlap",
                               kernel.function->name);
    edit.aims_at = Bound::kLatency;
    edit.claim = {{metric::kThreadInstructions, Direction::kDown}};
    edit.prior = 1.5;
  } else if (name == "bounds") {
    edit.summary = fmt::format("tell the compiler the block size of {}", kernel.function->name);
    edit.aims_at = Bound::kOccupancy;
    edit.claim = {{metric::kRegisters, Direction::kDown}};
    edit.prior = 0.6;
  } else if (name == "unroll") {
    edit.summary = fmt::format("unroll the innermost loops of {} {} times", kernel.function->name,
                               parameters.at("count"));
    edit.aims_at = Bound::kLatency;
    edit.claim = {{metric::kThreadInstructions, Direction::kDown}};
    edit.prior = 0.8;
  } else {
    edit.summary = fmt::format("launch {} with blocks of {} threads", kernel.function->name,
                               parameters.at("threads"));
    edit.aims_at = Bound::kOccupancy;
    edit.claim = {{metric::kTheoreticalOccupancy, Direction::kUp}};
    edit.prior = 0.7;
  }
  return edit;
}

}  // namespace

bool IsTextEdit(const std::string& name) {
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

TextKernel MakeTextKernel(int index, const ast::SourceUnit& unit, const ast::Function& function,
                          const std::vector<LaunchPlan>& plans) {
  TextKernel kernel;
  kernel.index = index;
  kernel.unit = &unit;
  kernel.function = &function;
  std::vector<size_t> pointers;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const ast::Variable& parameter = unit.variables[static_cast<size_t>(function.parameters[i])];
    if (parameter.type->kind == ast::TypeKind::kPointer) {
      pointers.push_back(i);
    }
  }
  kernel.buffers.resize(pointers.size());
  for (const LaunchPlan& plan : plans) {
    for (const LaunchStep& step : plan.steps) {
      const auto* launch = std::get_if<KernelLaunch>(&step);
      if (launch == nullptr || launch->kernel != function.name_expression) {
        continue;
      }
      kernel.blocks.push_back(launch->block);
      const bool structs_hold_pointers = std::any_of(
          launch->arguments.begin(), launch->arguments.end(),
          [](const auto& argument) { return std::holds_alternative<StructArgument>(argument); });
      kernel.launched_by_task = kernel.launched_by_task || plan.maker == PlanMaker::kTaskFile;
      for (size_t p = 0; p < pointers.size(); ++p) {
        const auto* pointer = pointers[p] < launch->arguments.size() && !structs_hold_pointers
                                  ? std::get_if<DevicePointer>(&launch->arguments[pointers[p]])
                                  : nullptr;
        // An unknown pointer is taken for the same as every other.
        kernel.buffers[p].push_back(pointer == nullptr ? -2 : pointer->buffer);
      }
    }
  }
  return kernel;
}

std::variant<std::vector<Replacement>, std::string> ApplyTextEdit(const TextKernel& kernel,
                                                                  const Edit& edit) {
  const auto parameter = [&](const char* name) {
    const auto found = edit.parameters.find(name);
    return found == edit.parameters.end() ? int64_t{0} : found->second;
  };
  if (edit.rewrite == "restrict") {
    return Restrict(kernel);
  }
  if (edit.rewrite == "bounds") {
    return Bounds(kernel);
  }
  if (edit.rewrite == "unroll") {
    return Unroll(kernel, parameter("count"));
  }
  if (edit.rewrite == "threads") {
    return Threads(kernel, parameter("threads"));
  }
  return fmt::format("there is no text edit \"{}\"", edit.rewrite);
}

std::vector<Edit> ProposeTextEdits(const TextKernel& kernel,
                                   const std::vector<std::string>& taken) {
  std::vector<Edit> edits;
  const auto is_taken = [&](const std::string& name) {
    return std::find(taken.begin(), taken.end(), name) != taken.end();
  };
  const auto add = [&](const std::string& name, const Parameters& parameters) {
    // Bounds are the root's block size, so they and another size exclude each other.
    const bool contradicts =
        (name == "bounds" && is_taken("threads")) || (name == "threads" && is_taken("bounds"));
    if (is_taken(name) || contradicts) {
      return;
    }
    Edit edit = Describe(kernel, name, parameters);
    if (std::holds_alternative<std::vector<Replacement>>(ApplyTextEdit(kernel, edit))) {
      edits.push_back(std::move(edit));
    }
  };
  add("restrict", {});
  add("unroll", {{"count", 4}});
  add("unroll", {{"count", 8}});
  for (const int64_t threads : {128, 256, 512}) {
    add("threads", {{"threads", threads}});
  }
  add("bounds", {});
  return edits;
}

}  // namespace optiml::rewrite
