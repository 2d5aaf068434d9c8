// S11: a row that several passes read stays in the registers of its threads after the first read.
// Rows that are too long at run time take a version that reads them again.

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {
namespace {

// Words of registers that a thread may spend on its share.
constexpr int64_t kMostWords = 64;

// Whether some load occurs in two passes over the row, and nothing is stored to its buffer before
// the last of them: rows are read before the first pass.
bool ReadsAgain(const Program& program, const std::string& inner) {
  const std::vector<AccessInfo> accesses = CollectAccesses(program);
  for (const AccessInfo& access : accesses) {
    if (access.is_store || access.is_conditional || !access.affine ||
        !(access.affine->Coefficient(inner) == Polynomial(1))) {
      continue;
    }
    size_t last = access.stage;
    for (const AccessInfo& other : accesses) {
      if (!other.is_store && other.buffer == access.buffer && Equal(other.index, access.index)) {
        last = std::max(last, other.stage);
      }
    }
    if (last > access.stage && !StoresBetween(accesses, access.buffer, 0, last)) {
      return true;
    }
  }
  return false;
}

int64_t WidestWords(const Program& program) {
  int64_t bytes = 4;
  for (const Parameter& parameter : program.parameters) {
    bytes = parameter.is_buffer ? std::max<int64_t>(bytes, ScalarBytes(parameter.type)) : bytes;
  }
  return bytes / 4;
}

}  // namespace

Transformation MakeKeepRow() {
  Transformation result;
  result.name = "keep_row";
  result.code = "S11";
  result.aims_at = Bound::kMemory;
  result.claim = {Down(metric::kGlobalLoadSectors), Down(metric::kGlobalLoadRequests),
                  Up(metric::kRegisters)};
  result.prior = 2;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{
        {{"items", 4}}, {{"items", 8}}, {{"items", 2}}, {{"items", 1}}, {{"items", 16}}};
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kRowFold})) {
      return reason;
    }
    if (auto reason = RefuseUnlessPresent(schedule, "row_fold")) {
      return reason;
    }
    const int64_t items = schedule.Get("keep_row", "items", 0);
    if (auto reason = RefuseUnlessOneOf(items, {1, 2, 4, 8, 16}, "items")) {
      return reason;
    }
    if (!ReadsAgain(facts.program, facts.shape.contiguous)) {
      return "no element of the row is read twice";
    }
    ExprPtr extent;
    for (const Stage& stage : facts.program.stages) {
      for (const Dim& dim : stage.dims) {
        if (extent != nullptr && !Equal(extent, dim.extent)) {
          return "the passes have different lengths";
        }
        extent = dim.extent;
      }
    }
    const int64_t width = schedule.Get("vector_width", "width", 1);
    if (items * width * WidestWords(facts.program) > kMostWords) {
      return fmt::format("{} registers a thread for the row (at most {})",
                         items * width * WidestWords(facts.program), kMostWords);
    }
    if (const std::optional<int64_t> length = facts.InnerLength()) {
      const int64_t held = items * width * schedule.Get("row_fold", "threads", 256);
      if (held < *length) {
        return fmt::format("the threads hold {} elements, a row has {}", held, *length);
      }
      if (items > 1 && held >= 4 * *length) {
        return fmt::format("the threads hold {} elements, a row has only {}", held, *length);
      }
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts&, const Parameters&) {
    return std::string("keep each row in registers between the passes");
  };
  return result;
}

}  // namespace optiml::rewrite
