#ifndef OPTIML_VERIFY_PREPARE_H_
#define OPTIML_VERIFY_PREPARE_H_

// From text to something that runs: parse, plan for each row of sizes and each set of scalars,
// build.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "frontend/frontend.h"
#include "task/task.h"
#include "verify/live_launcher.h"

namespace optiml {

// One plan that is wanted.
struct PlanRequest {
  SizeBindings sizes;
  std::map<std::string, double> scalars;  // of arguments that are no sizes; empty: first values
  std::string text;                       // "rows=33 cols=100", for messages
};

struct PreparedSource {
  Artifact artifact;
  std::vector<LaunchPlan> plans;  // by request; none where `live` is set
  // Host mode: the launcher reads device data back, and its plans are made for each contents.
  std::shared_ptr<LiveLauncher> live;
};

// A source that cannot be parsed, planned or built is a Rejection with its stage. Stage times,
// resources and the hashes of PTX and plans are added to `evaluation`. `same_names`: whether the
// launcher's parameters must have the names of the task's arguments (the task's own kernel); a
// candidate may rename them. `recorder`: how launchers are recorded that cannot be interpreted;
// CUDA's headers are those of the builder's toolchain unless it names others. `may_live`: asked
// when the launcher reads device data back, whether it may have host mode; empty: it may not.
Result<std::variant<PreparedSource, Rejection>> PrepareSource(
    const KernelTask& task, const KernelSource& source, bool same_names,
    const std::vector<PlanRequest>& requests, Builder& builder, const std::string& architecture,
    Evaluation& evaluation, const RecorderOptions& recorder = {},
    const std::function<Result<bool>()>& may_live = {});

// What the front end says of the launcher's parameters, as task/ compares it.
std::vector<LauncherFact> FactsOf(const std::vector<LauncherParameter>& parameters);

}  // namespace optiml

#endif  // OPTIML_VERIFY_PREPARE_H_
