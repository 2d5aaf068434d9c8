// S2 and S10: a block or a warp takes each row; its threads read neighbouring elements, fold their
// shares and combine them by shuffles (and shared memory). Regroups float sums.

#include <fmt/format.h>

#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {
namespace {

bool RegroupsFloats(const Program& program) {
  for (const Stage& stage : program.stages) {
    for (const Accumulator& accumulator : stage.accumulators) {
      if (IsFloatScalar(accumulator.type) &&
          (accumulator.op == FoldOp::kSum || accumulator.op == FoldOp::kProduct)) {
        return true;
      }
    }
  }
  return false;
}

// A buffer that a stage for the whole row stores to, by one thread, and that a later stage loads.
std::optional<std::string> ReadAfterOneThreadStored(const Program& program) {
  const std::vector<AccessInfo> accesses = CollectAccesses(program);
  for (const AccessInfo& store : accesses) {
    if (!store.is_store || !program.stages[store.stage].dims.empty()) {
      continue;
    }
    for (const AccessInfo& load : accesses) {
      if (!load.is_store && load.buffer == store.buffer && load.stage > store.stage) {
        return store.buffer;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Transformation MakeRowFold() {
  Transformation result;
  result.name = "row_fold";
  result.code = "S2 S10";
  result.aims_at = Bound::kMemory;
  result.claim = {Down(metric::kGlobalLoadSectorsPerRequest), Down(metric::kGlobalLoadSectors)};
  result.prior = 4;
  result.choices = [](const KernelFacts& facts) {
    const int64_t length = facts.InnerLength().value_or(4096);
    std::vector<Parameters> choices;
    // About 16 elements a thread; the neighbours of that choice after it.
    int64_t threads = 32;
    while (threads < 1024 && threads * 16 < length) {
      threads *= 2;
    }
    for (const int64_t one : {threads, threads * 2, threads / 2, threads * 4, threads / 4}) {
      if (one >= 32 && one <= 1024) {
        choices.push_back({{"threads", one}});
      }
    }
    return choices;
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kRowFold})) {
      return reason;
    }
    const int64_t threads = schedule.Get("row_fold", "threads", 0);
    if (auto reason = RefuseUnlessOneOf(threads, {32, 64, 128, 256, 512, 1024}, "threads")) {
      return reason;
    }
    if (threads > facts.limits.threads_per_block) {
      return fmt::format("a block has at most {} threads", facts.limits.threads_per_block);
    }
    if (!facts.WritesDoNotAlias()) {
      return "a written buffer may overlap another one: threads of a row would see each other's "
             "writes";
    }
    if (const std::optional<std::string> buffer = ReadAfterOneThreadStored(facts.program)) {
      return fmt::format("{} is read again after one thread of the row wrote it", *buffer);
    }
    if (RegroupsFloats(facts.program) && !facts.limits.allows_reassociation) {
      return "it regroups float sums, which the task does not allow";
    }
    for (const Stage& stage : facts.program.stages) {
      for (const Accumulator& accumulator : stage.accumulators) {
        if (ScalarBytes(accumulator.type) < 4) {
          return fmt::format("{} has a type that shuffles do not move", accumulator.name);
        }
      }
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts& facts, const Parameters& parameters) {
    const int64_t threads = parameters.at("threads");
    return fmt::format(
        "give each row to {} and combine the threads' shares by shuffles{}",
        threads <= 32 ? std::string("a warp") : fmt::format("a block of {} threads", threads),
        RegroupsFloats(facts.program) ? " (regroups float sums)" : "");
  };
  return result;
}

}  // namespace optiml::rewrite
