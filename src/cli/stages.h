#ifndef OPTIML_CLI_STAGES_H_
#define OPTIML_CLI_STAGES_H_

// One kernel through the stages of a candidate, outside of a run: what check, profile and
// --stop-after show.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/task_options.h"
#include "cli/toolbox.h"
#include "core/evaluation.h"

namespace optiml {

struct StageOutcome {
  Evaluation evaluation;
  std::optional<PreparedCandidate> prepared;  // once parsed, planned and built
  std::vector<std::string> notes;             // of the checks: Verifier::Notes
};

// Stops after `last` or at the first rejection. Timing is at every timed shape; the profile and the
// diagnosis are of the first one.
Result<StageOutcome> RunStages(const Workbench& bench, const KernelSource& source, Stage last,
                               const VerifierOptions& options, const CliEnv& env, Toolbox& tools);

// The task's own kernel, or the text of another file under the task's entry.
Result<KernelSource> ChooseKernel(const KernelTask& task, const std::string& file,
                                  const CliEnv& env);

// Of a command that judges one kernel: 0 accepted, 1 rejected, 2 when the task's own kernel does
// not get as far as a verdict: its launcher cannot be followed or it does not build.
int ExitCodeOfKernel(const Evaluation& evaluation, bool is_own);

// Stages at which --stop-after may stop.
std::vector<std::string> StopStages();

// What the stage `last` yields, as text: syntax tree, plans, PTX and resources, the checks' result,
// times, counters.
Result<std::string> DescribeStage(const Workbench& bench, const KernelSource& source, Stage last,
                                  const VerifierOptions& options, const CliEnv& env,
                                  Toolbox& tools);

// "L1: 42 cases passed ..." or "rejected at L1: ..." with the first wrong element or finding.
std::string DescribeOutcome(const Evaluation& evaluation);

}  // namespace optiml

#endif  // OPTIML_CLI_STAGES_H_
