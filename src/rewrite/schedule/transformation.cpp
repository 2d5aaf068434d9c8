#include "rewrite/schedule/transformation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace optiml::rewrite {

const std::vector<Transformation>& Transformations() {
  static const std::vector<Transformation> kAll = {
      MakeFlatten(),     MakeInterchange(),    MakeRowFold(),     MakeColumnFold(),
      MakeSplitFold(),   MakePrivatise(),      MakeTileShared(),  MakeRegisterTile(),
      MakeTurnTile(),    MakeRegisterWindow(), MakeVectorWidth(), MakeDoubleBuffer(),
      MakeKeepRow(),     MakeFuseFolds(),      MakeCoarsen(),     MakeBlockSize(),
      MakeLaunchBounds()};
  return kAll;
}

const Transformation* FindTransformation(std::string_view name) {
  const std::vector<Transformation>& all = Transformations();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Transformation& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<std::string> RefuseSchedule(const KernelFacts& facts, const Schedule& schedule) {
  for (const Primitive& primitive : schedule.primitives) {
    const Transformation* transformation = FindTransformation(primitive.name);
    if (transformation == nullptr) {
      return fmt::format("there is no transformation \"{}\"", primitive.name);
    }
    if (std::optional<std::string> reason = transformation->refuse(facts, schedule)) {
      return fmt::format("{}: {}", FormatPrimitive(primitive.name, primitive.parameters), *reason);
    }
  }
  return std::nullopt;
}

std::optional<std::string> RefuseUnlessShape(const KernelFacts& facts,
                                             std::initializer_list<ShapeKind> kinds) {
  if (std::find(kinds.begin(), kinds.end(), facts.shape.kind) != kinds.end()) {
    return std::nullopt;
  }
  return fmt::format("{} is a {}", facts.program.kernel, ShapeKindName(facts.shape.kind));
}

std::optional<std::string> RefuseUnlessPresent(const Schedule& schedule, std::string_view name) {
  if (schedule.Has(name)) {
    return std::nullopt;
  }
  return fmt::format("needs {} before it", name);
}

std::optional<std::string> RefuseUnlessOneOf(int64_t value, std::initializer_list<int64_t> allowed,
                                             const std::string& what) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) {
    return std::nullopt;
  }
  return fmt::format("{} {} (allowed: {})", what, value,
                     fmt::join(allowed.begin(), allowed.end(), " "));
}

MetricClaim Down(const char* metric) {
  return {metric, Direction::kDown};
}
MetricClaim Up(const char* metric) {
  return {metric, Direction::kUp};
}

}  // namespace optiml::rewrite
