// A3: atomics of a block go to copies of the target in shared memory first, each block adds its
// copies to the target once. Several copies, chosen by lane, keep lanes of a warp apart.

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/schedule/normalise.h"
#include "rewrite/schedule/private_bins.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite {

const Store* ScatterStore(const Program& program) {
  const Store* found = nullptr;
  for (const Stage& stage : program.stages) {
    for (const Store& store : stage.stores) {
      if (found != nullptr || store.kind != StoreKind::kAtomic) {
        return nullptr;
      }
      found = &store;
    }
  }
  return found;
}

std::optional<int64_t> ScatterBins(const KernelFacts& facts) {
  const Store* store = ScatterStore(facts.program);
  std::optional<int64_t> bins;
  for (const LaunchFacts& launch : facts.launches) {
    if (store == nullptr) {
      break;
    }
    const auto left = launch.elements_left.find(store->buffer);
    if (left != launch.elements_left.end()) {
      bins = std::max(bins.value_or(0), left->second);
    }
  }
  return bins;
}

Transformation MakePrivatise() {
  Transformation result;
  result.name = "privatise";
  result.code = "A3";
  result.aims_at = Bound::kLatency;
  result.claim = {Down(metric::kGlobalAtomicRequests)};
  result.prior = 4;
  result.choices = [](const KernelFacts&) {
    return std::vector<Parameters>{{{"replicas", 8}},
                                   {{"replicas", 32}},
                                   {{"replicas", 1}},
                                   {{"replicas", 16}},
                                   {{"replicas", 4}}};
  };
  result.refuse = [](const KernelFacts& facts,
                     const Schedule& schedule) -> std::optional<std::string> {
    if (auto reason = RefuseUnlessShape(facts, {ShapeKind::kScatter})) {
      return reason;
    }
    const Store* store = ScatterStore(facts.program);
    if (store == nullptr) {
      return "more than one store";
    }
    const Parameter* target = facts.program.FindParameter(store->buffer);
    if (target == nullptr || target->is_read || !facts.DistinctFromAll(store->buffer)) {
      return fmt::format("{} is read by the same kernel or may overlap another buffer",
                         store->buffer);
    }
    if (target->type != Scalar::kI32 && target->type != Scalar::kU32 &&
        target->type != Scalar::kF32) {
      return fmt::format("{} has no fast atomic in shared memory", store->buffer);
    }
    if (store->atomic_op != FoldOp::kSum) {
      return "only sums are privatised";
    }
    if (target->type == Scalar::kF32 && !facts.limits.allows_reassociation) {
      return "it regroups float sums, which the task does not allow";
    }
    if (!Flatten(facts.program, "i")) {
      return "some access does not run through memory in the order of the dims";
    }
    const int64_t replicas = schedule.Get("privatise", "replicas", 0);
    if (auto reason = RefuseUnlessOneOf(replicas, {1, 2, 4, 8, 16, 32}, "replicas")) {
      return reason;
    }
    const std::optional<int64_t> bins = ScatterBins(facts);
    if (!bins || *bins < 1) {
      return fmt::format("the size of {} is not known", store->buffer);
    }
    const int64_t bytes = *bins * replicas * 4;
    if (bytes > static_cast<int64_t>(facts.limits.shared_bytes_default)) {
      return fmt::format("{} bytes of shared memory (at most {})", bytes,
                         facts.limits.shared_bytes_default);
    }
    return std::nullopt;
  };
  result.summary = [](const KernelFacts& facts, const Parameters& parameters) {
    const Store* store = ScatterStore(facts.program);
    const int64_t replicas = parameters.at("replicas");
    return fmt::format(
        "collect {} in {} of it in each block's shared memory, added up once per "
        "block{}",
        store == nullptr ? std::string("the target") : store->buffer,
        replicas == 1 ? std::string("a copy") : fmt::format("{} copies", replicas),
        replicas == 1 ? "" : ", lanes using different copies");
  };
  return result;
}

}  // namespace optiml::rewrite
