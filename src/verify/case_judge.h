#ifndef OPTIML_VERIFY_CASE_JUDGE_H_
#define OPTIML_VERIFY_CASE_JUDGE_H_

// CaseJudge: runs of one plan on one case, each judged by what the device found and by what came
// out.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "verify/case_library.h"
#include "verify/plan_runner.h"
#include "verify/prepare.h"

namespace optiml {

// "kernel: out of bounds: ... (line 3)".
std::string FindingSentence(const Finding& finding);

// The worst errors of all comparisons so far.
void NoteErrors(const CaseLibrary::Outcome& outcome, VerifyReport& report);

class CaseJudge {
 public:
  // Borrowed. The case was resolved, and not dropped.
  struct Of {
    const KernelTask& task;
    Device& device;
    CaseLibrary& library;
    const PreparedSource& original;
    size_t index = 0;
    const VerifyCase& c;
    bool full = false;  // every check of the device
    VerifyReport& report;
    std::vector<std::string>& notes;
  };
  using Outcome = std::optional<Rejection>;

  CaseJudge(const Of& of, const Artifact& artifact, uint64_t step_limit);

  // The next runs' plan, which must outlive them, and where they run.
  void Use(const LaunchPlan& plan) { request_.plan = &plan; }
  void MoveTo(const Surroundings& surroundings) { request_.surroundings = surroundings; }
  void MakeRepeatable() { request_.repeatable = true; }

  // Runs the plan; the last pass's outputs are compared. `what`: the beginning of a sentence about
  // a wrong one.
  Result<Outcome> Run(std::vector<PassRun> passes, std::string_view what);
  // Outputs of another run.
  Result<Outcome> Compare(const std::vector<Tensor>& buffers, uint8_t poison,
                          std::string_view what);
  // With the case's name.
  Outcome Fail(Stage stage, const std::string& reason);

  // Of the last run.
  const std::vector<Tensor>& buffers() const { return buffers_; }
  // Thread instructions of its first pass; 0: not counted.
  uint64_t first_pass_work() const { return first_pass_work_; }

 private:
  // What the device says of the run itself.
  Outcome JudgeRun(const PlanResult& result);

  const Of of_;
  PlanRun request_;
  std::vector<Tensor> buffers_;
  uint64_t first_pass_work_ = 0;
};

}  // namespace optiml

#endif  // OPTIML_VERIFY_CASE_JUDGE_H_
