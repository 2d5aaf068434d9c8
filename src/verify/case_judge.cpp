#include "verify/case_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "verify/compare.h"

namespace optiml {
namespace {

constexpr double kSameWork = 0.9;  // one block may be spared a step or two
// Of one launch among several: less than this many thread instructions say nothing.
constexpr uint64_t kLeastSpared = 256;

// What a second call with the same inputs is spared of the first one's work, as a sentence; empty
// when it does as much, in all and in each of its launches, as it should.
std::string WorkOfSecondCall(const RunOutcome& run) {
  if (run.pass_work.size() < 2 || run.pass_work[0] == 0) {
    return "";
  }
  const auto share = [](uint64_t first, uint64_t second) {
    return static_cast<double>(second) / static_cast<double>(first);
  };
  if (const double all = share(run.pass_work[0], run.pass_work[1]); all < kSameWork) {
    return fmt::format("does {:.0f} % of the first one's work", 100 * all);
  }
  if (run.launch_work.size() < 2) {
    return "";
  }
  const std::vector<uint64_t>& first = run.launch_work[0];
  const std::vector<uint64_t>& second = run.launch_work[1];
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (second[i] + kLeastSpared <= first[i] && share(first[i], second[i]) < kSameWork) {
      return fmt::format("does {:.0f} % of the first one's work in its launch number {}",
                         100 * share(first[i], second[i]), i + 1);
    }
  }
  return "";
}

}  // namespace

std::string FindingSentence(const Finding& finding) {
  const std::string place = finding.line > 0 ? fmt::format(" (line {})", finding.line) : "";
  const std::string kernel = finding.kernel.empty() ? "" : fmt::format("{}: ", finding.kernel);
  // The detail may already begin with the kind.
  const bool repeats = finding.detail.starts_with(finding.kind);
  return fmt::format("{}{}{}{}", kernel, repeats ? "" : finding.kind + ": ", finding.detail, place);
}

void NoteErrors(const CaseLibrary::Outcome& outcome, VerifyReport& report) {
  report.max_absolute_error = std::max(report.max_absolute_error, outcome.max_absolute_error);
  report.max_relative_error = std::max(report.max_relative_error, outcome.max_relative_error);
  report.max_budget_ratio = std::max(report.max_budget_ratio, outcome.max_budget_ratio);
}

CaseJudge::CaseJudge(const Of& of, const Artifact& artifact, uint64_t step_limit) : of_(of) {
  request_.artifact = &artifact;
  request_.checks = of.full ? CheckLevel::kFull : CheckLevel::kBounds;
  request_.step_limit = step_limit;
}

CaseJudge::Outcome CaseJudge::Fail(Stage stage, const std::string& reason) {
  of_.report.failing_case = of_.c.inputs.text;
  return Rejection{stage, fmt::format("at {}: {}", of_.c.inputs.text, reason)};
}

CaseJudge::Outcome CaseJudge::JudgeRun(const PlanResult& result) {
  const Stage stage = of_.full ? Stage::kL0 : Stage::kL1;
  for (const std::string& note : result.outcome.notes) {
    if (std::find(of_.notes.begin(), of_.notes.end(), note) == of_.notes.end()) {
      of_.notes.push_back(note);
    }
  }
  if (!result.outcome.findings.empty()) {
    of_.report.findings = result.outcome.findings;
    return Fail(stage, FindingSentence(result.outcome.findings.front()));
  }
  if (result.outcome.status == RunStatus::kUnsupported) {
    Outcome unsupported = Fail(
        stage, fmt::format("not checked by {}: {}", of_.device.Info().name, result.outcome.reason));
    unsupported->is_unsupported = true;
    return unsupported;
  }
  if (result.outcome.status != RunStatus::kCompleted) {
    return Fail(stage,
                result.outcome.reason.empty() ? "the run did not complete" : result.outcome.reason);
  }
  if (!result.changed_input.empty()) {
    return Fail(Stage::kL1, fmt::format("the input {} was changed", result.changed_input));
  }
  return std::nullopt;
}

Result<CaseJudge::Outcome> CaseJudge::Compare(const std::vector<Tensor>& buffers, uint8_t poison,
                                              std::string_view what) {
  OPTIML_ASSIGN(const CaseLibrary::Outcome compared,
                of_.library.CompareOutputs(of_.index, buffers, poison, of_.original));
  NoteErrors(compared, of_.report);
  if (compared.matches()) {
    return Outcome();
  }
  of_.report.first_mismatch = compared.first;
  of_.report.mismatch_count = compared.mismatch_count;
  of_.report.error_map = compared.map;
  return Fail(Stage::kL1, fmt::format("{}{} ({} of its elements differ)", what,
                                      MismatchText(*compared.first), compared.mismatch_count));
}

Result<CaseJudge::Outcome> CaseJudge::Run(std::vector<PassRun> passes, std::string_view what) {
  request_.passes = std::move(passes);
  OPTIML_ASSIGN(PlanResult result, RunPlan(of_.task, request_, of_.device));
  if (Outcome failed = JudgeRun(result)) {
    return failed;
  }
  buffers_ = std::move(result.buffers);
  first_pass_work_ = result.outcome.pass_work.empty() ? 0 : result.outcome.pass_work.front();
  OPTIML_ASSIGN(Outcome wrong, Compare(buffers_, request_.passes.back().poison, what));
  if (wrong) {
    return wrong;
  }
  const bool is_repeat = request_.passes.size() > 1 && request_.passes[0].inputs == &of_.c.inputs;
  const std::string spared = is_repeat ? WorkOfSecondCall(result.outcome) : "";
  if (!spared.empty()) {
    return Fail(Stage::kL0, fmt::format("a second call with the same inputs {}: something is "
                                        "kept from it",
                                        spared));
  }
  return Outcome();
}

}  // namespace optiml
