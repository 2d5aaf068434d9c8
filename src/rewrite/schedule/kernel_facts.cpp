#include "rewrite/schedule/kernel_facts.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "rewrite/schedule/normalise.h"

namespace optiml::rewrite {
namespace {

std::optional<int64_t> IntegerOf(const std::vector<std::byte>& bytes, Scalar type) {
  const size_t size = static_cast<size_t>(ScalarBytes(type));
  if (bytes.size() != size || IsFloatScalar(type)) {
    return std::nullopt;
  }
  uint64_t raw = 0;
  std::memcpy(&raw, bytes.data(), size);  // little endian, as the device
  switch (type) {
    case Scalar::kI8:
      return static_cast<int8_t>(raw);
    case Scalar::kI16:
      return static_cast<int16_t>(raw);
    case Scalar::kI32:
      return static_cast<int32_t>(raw);
    default:
      return static_cast<int64_t>(raw);
  }
}

LaunchFacts FactsOf(const KernelLaunch& launch, const LaunchPlan& plan, const Program& program) {
  LaunchFacts facts;
  facts.grid = launch.grid;
  facts.block = launch.block;
  for (size_t i = 0; i < launch.arguments.size() && i < program.parameters.size(); ++i) {
    const Parameter& parameter = program.parameters[i];
    if (const auto* pointer = std::get_if<DevicePointer>(&launch.arguments[i])) {
      facts.pointers[parameter.name] = *pointer;
      if (pointer->buffer >= 0 && static_cast<size_t>(pointer->buffer) < plan.buffers.size()) {
        const int64_t bytes =
            static_cast<int64_t>(plan.buffers[static_cast<size_t>(pointer->buffer)].size_bytes) -
            pointer->offset_bytes;
        facts.elements_left[parameter.name] = bytes / ScalarBytes(parameter.type);
      }
    } else if (!parameter.is_buffer) {
      const auto* bytes = std::get_if<std::vector<std::byte>>(&launch.arguments[i]);
      if (bytes == nullptr) {
        continue;
      }
      if (const std::optional<int64_t> value = IntegerOf(*bytes, parameter.type)) {
        facts.integers[parameter.name] = *value;
      }
    }
  }
  return facts;
}

// Words that the emitters use for their own variables: a program's name that is one of them gets
// underscores until no other name is the same.
constexpr const char* kEmittedWords[] = {
    "lane",  "item",     "group",      "part",     "pack",     "place",      "step",
    "load",  "thread",   "buffer",     "centre",   "from",     "results",    "replica",
    "mi",    "ni",       "wx",         "wy",       "offset",   "other",      "inside",
    "slice", "total",    "copy",       "more",     "tiles",    "blocks",     "grid",
    "block", "blocks_x", "blocks_y",   "thread_m", "thread_n", "load_tiles", "store_tiles",
    "start", "stream",   "row_blocks", "tile_rows"};

std::set<std::string> NamesOf(const Program& program) {
  std::set<std::string> names(program.reserved_names.begin(), program.reserved_names.end());
  for (const Parameter& parameter : program.parameters) {
    names.insert(parameter.name);
  }
  for (const Dim& dim : program.dims) {
    names.insert(dim.name);
  }
  for (const Stage& stage : program.stages) {
    for (const Dim& dim : stage.dims) {
      names.insert(dim.name);
    }
    for (const Let& let : stage.lets) {
      names.insert(let.name);
    }
    for (const Accumulator& accumulator : stage.accumulators) {
      names.insert(accumulator.name);
    }
  }
  return names;
}

void AvoidEmittedWords(Program* program) {
  std::set<std::string> taken = NamesOf(*program);
  std::map<std::string, ExprPtr> renamed;
  const auto avoid = [&](std::string* name, Scalar type) {
    if (std::find(std::begin(kEmittedWords), std::end(kEmittedWords), *name) ==
        std::end(kEmittedWords)) {
      return;
    }
    const std::string old = *name;
    do {
      *name += "_";
    } while (!taken.insert(*name).second);
    renamed[old] = Symbol(*name, type);
  };
  std::map<std::string, std::string> buffers;
  for (Parameter& parameter : program->parameters) {
    const std::string old = parameter.name;
    avoid(&parameter.name, parameter.type);
    if (parameter.is_buffer && parameter.name != old) {
      buffers[old] = parameter.name;
    }
  }
  for (Dim& dim : program->dims) {
    avoid(&dim.name, dim.extent->type);
  }
  for (Stage& stage : program->stages) {
    for (Dim& dim : stage.dims) {
      avoid(&dim.name, dim.extent->type);
    }
    for (Let& let : stage.lets) {
      avoid(&let.name, let.type);
    }
    for (Accumulator& accumulator : stage.accumulators) {
      avoid(&accumulator.name, accumulator.type);
    }
    for (Store& store : stage.stores) {
      const auto found = buffers.find(store.buffer);
      store.buffer = found == buffers.end() ? store.buffer : found->second;
    }
  }
  if (renamed.empty()) {
    return;
  }
  RewriteProgram(program, [&](const ExprPtr& expr) {
    return Substitute(
        RewriteExpr(expr,
                    [&](const ExprPtr& node) -> ExprPtr {
                      if (node->kind != ExprKind::kLoad || buffers.count(node->name) == 0) {
                        return nullptr;
                      }
                      return Load(buffers.at(node->name), node->operands[0], node->type);
                    }),
        renamed);
  });
}

}  // namespace

bool KernelFacts::Distinct(const std::string& a, const std::string& b) const {
  if (launches.empty()) {
    return false;
  }
  return std::all_of(launches.begin(), launches.end(), [&](const LaunchFacts& launch) {
    const auto left = launch.pointers.find(a);
    const auto right = launch.pointers.find(b);
    return left != launch.pointers.end() && right != launch.pointers.end() &&
           left->second.buffer != right->second.buffer;
  });
}

bool KernelFacts::DistinctFromAll(const std::string& buffer) const {
  return std::all_of(
      program.parameters.begin(), program.parameters.end(), [&](const Parameter& other) {
        return !other.is_buffer || other.name == buffer || Distinct(buffer, other.name);
      });
}

bool KernelFacts::WritesDoNotAlias() const {
  for (const Parameter& parameter : program.parameters) {
    if (!parameter.is_buffer || !parameter.is_written) {
      continue;
    }
    if (!DistinctFromAll(parameter.name)) {
      return false;
    }
    if (!parameter.is_read) {
      continue;
    }
    const AccessInfo* first = nullptr;
    const std::vector<AccessInfo> accesses = CollectAccesses(program);
    for (const AccessInfo& access : accesses) {
      if (access.buffer != parameter.name || access.is_atomic) {
        continue;
      }
      if (first != nullptr && !Equal(first->index, access.index)) {
        return false;
      }
      first = &access;
    }
  }
  return true;
}

std::optional<int64_t> KernelFacts::Value(const ExprPtr& expr) const {
  static const std::map<std::string, int64_t> kNoScalars;
  return Evaluate(expr, launches.empty() ? kNoScalars : launches.front().integers);
}

std::optional<int64_t> KernelFacts::InnerLength() const {
  for (const Stage& stage : program.stages) {
    for (const Dim& dim : stage.dims) {
      if (dim.name == shape.contiguous) {
        return Value(dim.extent);
      }
    }
  }
  for (const Dim& dim : program.dims) {
    if (dim.name == shape.contiguous) {
      return Value(dim.extent);
    }
  }
  return std::nullopt;
}

std::optional<int64_t> KernelFacts::OuterPoints() const {
  return Value(ProductOf(program.dims));
}

KernelFacts MakeKernelFacts(int index, const ast::SourceUnit& unit, const ast::Function& function,
                            Program lifted, const std::vector<LaunchPlan>& plans,
                            const TargetLimits& limits) {
  KernelFacts facts;
  facts.index = index;
  facts.unit = &unit;
  facts.function = &function;
  AvoidEmittedWords(&lifted);
  facts.program = Normalise(lifted);
  facts.lifted = Tidy(lifted);
  facts.shape = Classify(facts.program);
  facts.limits = limits;
  for (const LaunchPlan& plan : plans) {
    for (const LaunchStep& step : plan.steps) {
      const auto* launch = std::get_if<KernelLaunch>(&step);
      if (launch != nullptr && launch->kernel == function.name_expression) {
        facts.launches.push_back(FactsOf(*launch, plan, facts.lifted));
        facts.launched_by_task = facts.launched_by_task || plan.maker == PlanMaker::kTaskFile;
      }
    }
  }
  return facts;
}

}  // namespace optiml::rewrite
