#ifndef OPTIML_VERIFY_CASE_LIBRARY_H_
#define OPTIML_VERIFY_CASE_LIBRARY_H_

// CaseLibrary: the cases of a task's checks (a row of sizes, a fill, a seed) with their inputs,
// what must come out, and how far the original kernel is from it. Computed once and shared by every
// candidate.
//
// Rows are the task's checked ones and some of our own: the timed row with every extent halved
// until it is small, so that code for aligned sizes runs too; and for each size that is larger when
// it is timed a row in which it is long and all others are short, so that many blocks run in each
// direction. Cases on these rows and cases with fills of our own count only where the original
// kernel agrees with the reference there: they may lie outside of what the task promises.
//
// Not thread safe.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "core/tensor.h"
#include "device/device.h"
#include "task/reference.h"
#include "verify/compare.h"
#include "verify/error_budget.h"
#include "verify/prepare.h"

namespace optiml {

struct VerifierOptions;

// Between the seeds of a case and of one with other contents; far from the seeds of cases.
inline constexpr uint64_t kOtherSeed = 1'000'003;
// Contents that each timed shape is timed with.
inline constexpr size_t kTimedSets = 2;

struct VerifyCase {
  size_t row = 0;                // into CaseLibrary::rows(); behind them: a timed row
  std::optional<FillKind> fill;  // absent: the declared fills
  uint64_t seed = 0;
  TaskInputs inputs;
  TaskInputs others;        // of the first of a row: as legal, but with other contents
  size_t plan = 0;          // into CaseLibrary::plan_requests()
  bool is_first = false;    // the first of its row: checked in full and called several times
  bool is_binding = false;  // a declared fill on a row of the task
  bool is_timed = false;    // at a timed shape
  uint64_t step_limit = 0;  // of the original; 0: as everywhere

  // After Resolve:
  bool dropped = false;  // the original does not compute it either
  std::string drop_reason;
  std::vector<Tensor> expected;  // by buffer argument; f64 for float outputs, empty for the others
  std::vector<Tensor> original;  // the original's outputs, likewise, in the task's dtypes
  // Where the original is the reference: its float outputs in double arithmetic, likewise; empty
  // where the device does not follow them.
  std::vector<Tensor> in_double;
  bool has_truth = false;                           // `expected` holds what CaseLibrary::Truth gave
  std::vector<std::optional<ErrorBudget>> budgets;  // by buffer argument
  // The budgets that know the case's conditioning; empty until an element fails without it. A
  // verdict asks for the others first, whoever asked before: it does not depend on what ran
  // earlier.
  std::vector<std::optional<ErrorBudget>> conditioned;
  bool signed_zeros = false;
  bool denormals = false;  // kept apart from zero
};

class CaseLibrary {
 public:
  // Borrowed; `reference` is null unless the task's reference is a host function.
  CaseLibrary(const KernelTask& task, Device& device, HostReference* reference,
              uint64_t step_limit);

  // Inputs of every case; fails when they cannot be made (a task that LoadTask accepted can).
  Result<void> MakeCases(int seeds, uint64_t first_seed, const std::vector<FillKind>& extra_fills);

  // Instead: two cases for each timed row, with the declared fills and other contents each. Plans
  // are those from `first_plan` on of the source that they are resolved with.
  Result<void> MakeTimedCases(uint64_t first_seed, size_t first_plan);

  const std::vector<SizeRow>& rows() const { return rows_; }
  // The first requests are those of the task's checked rows, then those of our own rows and of
  // varied scalars; the timed rows come last.
  const std::vector<PlanRequest>& plan_requests() const { return plan_requests_; }
  size_t first_timed_plan() const { return plan_requests_.size() - task_.timed.size(); }
  size_t size() const { return cases_.size(); }
  // Whether the case is the first of its row.
  bool IsFirst(size_t index) const { return cases_.at(index).is_first; }

  // Where the original is the reference: its float outputs for a case of MakeTimedCases, computed
  // in double precision, by buffer argument; empty tensors where they are not known. They are what
  // is compared with where the original agrees with them.
  using Truth = std::function<Result<std::vector<Tensor>>(const VerifyCase&)>;
  void SetTruth(Truth truth) { truth_ = std::move(truth); }

  // A case of the timed row with the declared fills, not binding, as the last one; size() counts it
  // until EndTimed() forgets it: its tensors may be large. One at a time.
  Result<size_t> BeginTimed(size_t row, uint64_t seed, uint64_t step_limit);
  void EndTimed();

  const TaskInputs& InputsOf(size_t index) const { return cases_.at(index).inputs; }
  // The first case that has the plan. REQUIRES: plan < first_timed_plan()
  size_t FirstCaseOf(size_t plan) const;

  // The case with its expected values and budgets. `original` is the task's own kernel, prepared
  // with plan_requests(). Fails (kInvalidArgument) when the reference or the original cannot
  // compute a binding case, or when they disagree about it.
  Result<const VerifyCase*> Resolve(size_t index, const PreparedSource& original);

  // All outputs of one run against the case. Asks for the magnitudes' run when an element would
  // fail without it. Error only when that run breaks.
  struct Outcome {
    std::optional<Mismatch> first;  // in argument order
    std::optional<ErrorMap> map;    // of the first one's output
    int64_t mismatch_count = 0;
    double max_absolute_error = 0;
    double max_relative_error = 0;
    double max_budget_ratio = 0;
    bool matches() const { return mismatch_count == 0; }
  };
  // `share`: of the budget that the kernel used elsewhere, see ErrorBudget::Tighten.
  Result<Outcome> CompareOutputs(size_t index, const std::vector<Tensor>& buffers,
                                 std::optional<uint8_t> poison, const PreparedSource& original,
                                 std::optional<double> share = std::nullopt);

 private:
  Result<void> AddRow(size_t row, int seeds, uint64_t first_seed,
                      const std::vector<FillKind>& extra_fills);
  // A case of a timed row with the declared fills and the timed plan's scalars.
  Result<VerifyCase> TimedCase(size_t row, uint64_t seed) const;
  Result<void> SetTimedScalars(size_t row, TaskInputs& inputs) const;
  size_t PlanFor(const SizeBindings& sizes, const std::map<std::string, double>& scalars);
  Result<std::vector<Tensor>> RunOriginal(const VerifyCase& c, const TaskInputs& inputs,
                                          const PreparedSource& original, std::string& failure,
                                          std::vector<Tensor>* in_double = nullptr);
  // Whether expected values are computed apart from the original.
  bool HasReference(const VerifyCase& c) const;
  Result<std::vector<Tensor>> ReferenceOutputs(const VerifyCase& c);
  // The reference's float outputs on other inputs; empty when they cannot be computed.
  Result<std::vector<Tensor>> OutputsOn(const VerifyCase& c, const TaskInputs& inputs,
                                        const PreparedSource& original);
  Result<void> FillIn(VerifyCase& c, const PreparedSource& original);
  // Expected values from truth_, where the original agrees with them.
  Result<void> AskForTruth(VerifyCase& c);
  Result<void> AddConditioning(size_t index, const PreparedSource& original);
  using Budgets = std::vector<std::optional<ErrorBudget>>;
  // Sets the budgets' multipliers from the original's error. Returns the worst ratio over all
  // outputs.
  double MeasureOriginal(const VerifyCase& c, Budgets& budgets) const;
  Outcome CompareOnce(const VerifyCase& c, const Budgets& budgets,
                      const std::vector<Tensor>& buffers, std::optional<uint8_t> poison) const;
  bool AreBitsOfTheOriginal(const VerifyCase& c, const std::vector<Tensor>& buffers) const;
  // The picture of an outcome that does not match, from what it was made of.
  ErrorMap DrawFirst(const VerifyCase& c, const Budgets& budgets,
                     const std::vector<Tensor>& buffers, std::optional<uint8_t> poison,
                     const std::string& argument) const;
  // Outputs by buffer argument; empty where they are not known.
  struct CaseConditioning {
    std::vector<Tensor> magnitudes;
    std::vector<Tensor> moved;
  };
  Budgets MakeBudgets(const VerifyCase& c, const CaseConditioning& conditioning) const;

  const KernelTask& task_;
  Device& device_;
  HostReference* reference_;
  Truth truth_;  // may be empty
  uint64_t step_limit_;
  std::vector<SizeRow> rows_;
  size_t task_rows_ = 0;
  std::vector<PlanRequest> plan_requests_;
  std::vector<VerifyCase> cases_;
  std::vector<bool> resolved_;
  std::map<size_t, CaseConditioning> conditioning_;  // by case; budgets point into it
};

}  // namespace optiml

#endif  // OPTIML_VERIFY_CASE_LIBRARY_H_
