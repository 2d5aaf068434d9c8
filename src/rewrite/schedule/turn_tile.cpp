// S7 and S8 for maps that read along another dim than they write: a padded tile in shared memory is
// filled along the one and read along the other, so that both sides touch whole sectors.

#include <fmt/format.h>

#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

Transformation MakeTurnTile() {
  Transformation result;
  result.name = "turn_tile";
  result.code = "S7 S8";
  result.aims_at = Bound::kMemory;
  result.claim = {Down(metric::kGlobalLoadSectorsPerRequest),
                  Down(metric::kGlobalStoreSectorsPerRequest)};
  result.prior = 4;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{{{"tile", 32}, {"rows", 8}},
                                   {{"tile", 32}, {"rows", 4}},
                                   {{"tile", 64}, {"rows", 8}},
                                   {{"tile", 64}, {"rows", 16}},
                                   {{"tile", 32}, {"rows", 16}}};
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kTranspose})) {
      return reason;
    }
    if (!facts.WritesDoNotAlias()) {
      return "a written buffer may overlap another one";
    }
    const int64_t tile = schedule.Get("turn_tile", "tile", 0);
    const int64_t rows = schedule.Get("turn_tile", "rows", 0);
    if (auto reason = RefuseUnlessOneOf(tile, {32, 64}, "tile")) {
      return reason;
    }
    if (auto reason = RefuseUnlessOneOf(rows, {4, 8, 16}, "rows")) {
      return reason;
    }
    int64_t bytes = 0;
    for (const AccessInfo& access : facts.shape.turned) {
      bytes += tile * (tile + 1) * ScalarBytes(access.type);
    }
    if (bytes > static_cast<int64_t>(facts.limits.shared_bytes_default)) {
      return fmt::format("{} bytes of shared memory (at most {})", bytes,
                         facts.limits.shared_bytes_default);
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts& facts, const Parameters& parameters) {
    return fmt::format(
        "turn {} around in padded tiles of {} x {} in shared memory, so that reads "
        "and writes both run along memory",
        facts.shape.turned.empty() ? std::string("the input") : facts.shape.turned[0].buffer,
        parameters.at("tile"), parameters.at("tile"));
  };
  return result;
}

}  // namespace optiml::rewrite
