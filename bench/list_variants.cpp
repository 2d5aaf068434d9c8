// Writes the variants near a task's root as .cu files, breadth first by prior, with a manifest: the
// material of measurements on a GPU (bench/gpu/time_kernels.py) and of the time model's fit.
//
//   list_variants TASK OUT_DIR COUNT [DEPTH]
//
// OUT_DIR/NNN.cu is a whole source; OUT_DIR/manifest.json lists file and chain of each.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <set>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "frontend/frontend.h"
#include "rewrite/catalogue.h"
#include "task/task.h"

namespace optiml {
namespace {

Result<LaunchPlan> PlanFor(const ast::SourceUnit& unit, const KernelTask& task,
                           const SizeBindings& sizes) {
  OPTIML_ASSIGN(const auto arguments, BindArguments(task, sizes));
  PlanOutcome plan = MakeLaunchPlan(unit, task.source.entry(), arguments);
  if (const auto* refusal = std::get_if<Refusal>(&plan)) {
    return Error(ErrorCode::kInvalidArgument, refusal->reason);
  }
  return std::get<LaunchPlan>(std::move(plan));
}

Result<void> ListVariants(const fs::path& task_path, const fs::path& out, size_t count,
                          size_t depth) {
  OPTIML_ASSIGN(const KernelTask task, LoadTask(task_path));
  OPTIML_ASSIGN(ParseOutcome parsed, ParseSource(task.source));
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) {
    return Error(ErrorCode::kInvalidArgument, refusal->reason);
  }
  const auto& unit = std::get<ast::SourceUnit>(parsed);
  std::vector<LaunchPlan> plans;
  for (const SizeRow& row : task.timed) {
    OPTIML_ASSIGN(LaunchPlan plan, PlanFor(unit, task, row.sizes));
    plans.push_back(std::move(plan));
  }
  OPTIML_ASSIGN(const auto catalogue, rewrite::MakeCatalogue(task, unit, plans, {}));
  OPTIML_TRY(CreateDirectories(out));

  nlohmann::json manifest = nlohmann::json::array();
  std::set<ContentHash> seen;
  std::deque<std::vector<Edit>> queue = {{}};
  while (!queue.empty() && manifest.size() < count) {
    const std::vector<Edit> chain = queue.front();
    queue.pop_front();
    rewrite::ApplyOutcome applied = catalogue->Apply(chain);
    const auto* source = std::get_if<KernelSource>(&applied);
    if (source == nullptr || !seen.insert(source->hash()).second) {
      continue;
    }
    const std::string file = fmt::format("{:03}.cu", manifest.size());
    OPTIML_TRY(WriteFileAtomically(out / file, source->text()));
    nlohmann::json labels = nlohmann::json::array();
    for (const Edit& edit : chain) {
      labels.push_back(edit.Label());
    }
    manifest.push_back({{"file", file}, {"chain", labels}});
    if (chain.size() < depth) {
      for (Edit& edit : catalogue->Propose(chain, nullptr)) {
        queue.push_back(chain);
        queue.back().push_back(std::move(edit));
      }
    }
  }
  OPTIML_TRY(WriteFileAtomically(out / "manifest.json", manifest.dump(1)));
  for (const auto& lift : catalogue->Lifted()) {
    fmt::print("{}: {}\n", lift.kernel, lift.lifted ? "lifted" : lift.detail);
  }
  fmt::print("{} variants\n", manifest.size());
  return {};
}

}  // namespace
}  // namespace optiml

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: list_variants TASK OUT_DIR COUNT [DEPTH]\n");
    return 2;
  }
  const size_t depth = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 3;
  const auto done =
      optiml::ListVariants(argv[1], argv[2], std::strtoul(argv[3], nullptr, 10), depth);
  if (!done) {
    std::fprintf(stderr, "list_variants: %s\n", done.error().message().c_str());
    return 2;
  }
  return 0;
}
