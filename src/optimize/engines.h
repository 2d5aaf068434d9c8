#ifndef OPTIML_OPTIMIZE_ENGINES_H_
#define OPTIML_OPTIMIZE_ENGINES_H_

// Engines: the parts of the lower layers that a session works with, made once in run_session.cpp
// (and scripted in tests).

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimize/evaluate.h"
#include "optimize/session.h"
#include "rewrite/catalogue.h"
#include "score/scorer.h"
#include "verify/delivered.h"
#include "verify/verifier.h"

namespace optiml {

struct Engines {
  std::unique_ptr<Verifier> verifier;
  // Of further devices, equal to the first, with one each.
  struct More {
    std::unique_ptr<Device> device;
    std::unique_ptr<Verifier> verifier;
  };
  std::vector<More> more = {};
  // `root` was accepted: the task's own kernel, or what a model made of it. The catalogue may refer
  // to what the engines own.
  std::function<Result<std::unique_ptr<rewrite::Catalogue>>(
      const PreparedCandidate& root, const std::vector<std::string>& excluded_kernels)>
      make_catalogue;
  DiagnoseFunction diagnose;
  // The check of the text that is handed over, once it has been a file (verify/delivered.h).
  // `candidate` is what the search accepted.
  std::function<Result<DeliveredReport>(const std::string& source,
                                        const PreparedCandidate& candidate)>
      deliver;
};

// RunSession with these engines and this device in the place of parts.device.
Result<RunRecord> RunSessionWith(const SessionParts& parts, const Engines& engines, Device& device,
                                 const SessionOptions& options, const RunRecord& record);

// What the rewrites need to know of the device; what it does not say stays the default.
rewrite::TargetLimits LimitsOf(const DeviceInfo& info);

// How candidates of a run with these options are scored.
ScoreOptions ScoreOptionsOf(const SessionOptions& options);

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_ENGINES_H_
