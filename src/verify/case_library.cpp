#include "verify/case_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/rng.h"
#include "task/names.h"
#include "task/npy.h"
#include "task/reference_range.h"
#include "verify/case_inputs.h"
#include "verify/case_rows.h"
#include "verify/live_case.h"
#include "verify/plan_runner.h"

namespace optiml {
namespace {

// Thread instructions of an original that is run again to be followed in double: 15 times slower.
constexpr uint64_t kMostFollowed = 20'000'000;
constexpr uint64_t kMoves = 2;  // one draw may cancel by chance

}  // namespace

CaseLibrary::CaseLibrary(const KernelTask& task, Device& device, HostReference* reference,
                         uint64_t step_limit)
    : task_(task), device_(device), reference_(reference), step_limit_(step_limit) {}

size_t CaseLibrary::PlanFor(const SizeBindings& sizes,
                            const std::map<std::string, double>& scalars) {
  for (size_t i = 0; i < plan_requests_.size(); ++i) {
    if (plan_requests_[i].sizes == sizes && plan_requests_[i].scalars == scalars) {
      return i;
    }
  }
  plan_requests_.push_back({sizes, scalars, SizeRow{sizes, 0}.Text()});
  return plan_requests_.size() - 1;
}

Result<void> CaseLibrary::MakeCases(int seeds, uint64_t first_seed,
                                    const std::vector<FillKind>& extra_fills) {
  rows_ = task_.checked;
  task_rows_ = rows_.size();
  size_t first_long = rows_.size();
  if (task_.reference.kind != ReferenceKind::kRecorded) {
    if (const auto aligned = AlignedRow(task_)) {
      rows_.push_back(*aligned);
    }
    first_long = rows_.size();
    for (SizeRow& row : LongRows(task_, rows_)) {
      rows_.push_back(std::move(row));
    }
  }
  // The plans of the task's rows come first, by row.
  for (size_t row = 0; row < rows_.size(); ++row) {
    OPTIML_ASSIGN(const TaskInputs inputs, MakeInputs(task_, rows_[row].sizes, first_seed));
    plan_requests_.push_back({inputs.sizes, inputs.scalars, rows_[row].Text()});
  }
  std::vector<size_t> order(rows_.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return Elements(task_, rows_[a].sizes) < Elements(task_, rows_[b].sizes);
  });
  for (const size_t row : order) {
    if (row >= first_long) {
      // About places, not about values: one case, run once.
      VerifyCase c;
      c.row = row;
      c.seed = first_seed;
      OPTIML_ASSIGN(c.inputs, MakeInputs(task_, rows_[row].sizes, first_seed));
      c.plan = PlanFor(c.inputs.sizes, c.inputs.scalars);
      cases_.push_back(std::move(c));
      continue;
    }
    OPTIML_TRY(AddRow(row, seeds, first_seed, extra_fills));
  }
  for (const SizeRow& row : task_.timed) {
    plan_requests_.push_back({row.sizes, {}, row.Text()});
  }
  resolved_.assign(cases_.size(), false);
  return {};
}

// Scalars as the timed plan has them: their first values.
Result<void> CaseLibrary::SetTimedScalars(size_t row, TaskInputs& inputs) const {
  OPTIML_ASSIGN(const std::vector<LauncherArgument> bound,
                BindArguments(task_, task_.timed[row].sizes, {}));
  for (size_t i = 0; i < task_.args.size(); ++i) {
    const auto scalar = inputs.scalars.find(task_.args[i].name);
    if (scalar == inputs.scalars.end()) {
      continue;
    }
    const auto* whole = std::get_if<int64_t>(&bound[i].value);
    std::byte held[8];
    StoreElement(task_.args[i].dtype,
                 whole != nullptr ? static_cast<double>(*whole) : std::get<double>(bound[i].value),
                 held);
    scalar->second = LoadElement(task_.args[i].dtype, held);
  }
  return {};
}

Result<VerifyCase> CaseLibrary::TimedCase(size_t row, uint64_t seed) const {
  VerifyCase c;
  c.seed = seed;
  c.is_timed = true;
  OPTIML_ASSIGN(c.inputs, MakeInputs(task_, task_.timed.at(row).sizes, seed));
  OPTIML_TRY(SetTimedScalars(row, c.inputs));
  return c;
}

Result<void> CaseLibrary::MakeTimedCases(uint64_t first_seed, size_t first_plan) {
  rows_ = task_.timed;
  task_rows_ = rows_.size();
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (const uint64_t seed : {first_seed, first_seed + kOtherSeed}) {
      OPTIML_ASSIGN(VerifyCase c, TimedCase(row, seed));
      c.row = row;
      c.is_binding = true;
      c.plan = first_plan + row;
      cases_.push_back(std::move(c));
    }
  }
  resolved_.assign(cases_.size(), false);
  return {};
}

Result<size_t> CaseLibrary::BeginTimed(size_t row, uint64_t seed, uint64_t step_limit) {
  OPTIML_ASSIGN(VerifyCase c, TimedCase(row, seed));
  c.row = rows_.size();
  c.step_limit = step_limit;
  c.plan = first_timed_plan() + row;
  cases_.push_back(std::move(c));
  resolved_.push_back(false);
  return cases_.size() - 1;
}

size_t CaseLibrary::FirstCaseOf(size_t plan) const {
  const auto found = std::ranges::find(cases_, plan, &VerifyCase::plan);
  OPTIML_CHECK(found != cases_.end(), "a plan is asked for by a case");
  return static_cast<size_t>(found - cases_.begin());
}

void CaseLibrary::EndTimed() {
  OPTIML_CHECK(!cases_.empty() && cases_.back().row == rows_.size(), "a timed case was begun");
  conditioning_.erase(cases_.size() - 1);
  cases_.pop_back();
  resolved_.pop_back();
}

Result<void> CaseLibrary::AddRow(size_t row, int seeds, uint64_t first_seed,
                                 const std::vector<FillKind>& extra_fills) {
  std::set<ContentHash> seen;
  bool is_first = true;
  const auto add = [&](std::optional<FillKind> fill, uint64_t seed) -> Result<void> {
    VerifyCase c;
    c.row = row;
    c.fill = fill;
    c.seed = seed;
    c.is_binding = !fill && row < task_rows_;
    OPTIML_ASSIGN(c.inputs, MakeInputs(task_, rows_[row].sizes, seed, fill));
    if (fill) {
      // Where every input keeps its declared fill, this would be one more seed and nothing else.
      OPTIML_ASSIGN(const TaskInputs declared, MakeInputs(task_, rows_[row].sizes, seed));
      if (HashOf(declared) == HashOf(c.inputs)) {
        return {};
      }
    }
    if (!seen.insert(HashOf(c.inputs)).second) {
      return {};  // a second seed changes nothing here
    }
    c.plan = PlanFor(c.inputs.sizes, c.inputs.scalars);
    c.is_first = std::exchange(is_first, false);
    if (c.is_first) {
      OPTIML_ASSIGN(c.others, MakeInputs(task_, rows_[row].sizes, seed + kOtherSeed, fill));
    }
    cases_.push_back(std::move(c));
    return {};
  };
  for (int i = 0; i < std::max(1, seeds); ++i) {
    OPTIML_TRY(add(std::nullopt, first_seed + static_cast<uint64_t>(i)));
  }
  // One seed for each further fill; with a seed of its own, so that scalars vary too.
  uint64_t seed = first_seed + static_cast<uint64_t>(std::max(1, seeds));
  for (const FillKind fill : extra_fills) {
    OPTIML_TRY(add(fill, seed++));
  }
  const bool special = std::any_of(task_.args.begin(), task_.args.end(),
                                   [](const ArgSpec& arg) { return arg.allow_special; });
  if (special) {
    OPTIML_TRY(add(FillKind::kSpecial, seed));
  }
  return {};
}

Result<std::vector<Tensor>> CaseLibrary::RunOriginal(const VerifyCase& c, const TaskInputs& inputs,
                                                     const PreparedSource& original,
                                                     std::string& failure,
                                                     std::vector<Tensor>* in_double) {
  PlanRun run;
  run.artifact = &original.artifact;
  run.passes = {{&inputs, kPoisonBytes[0]}};
  run.step_limit = c.step_limit != 0 ? c.step_limit : step_limit_;
  LaunchPlan traced;
  if (original.live != nullptr) {
    LiveSubject subject{task_, original.artifact, *original.live, device_, run.step_limit};
    subject.repeatable = !c.is_timed;
    OPTIML_ASSIGN(auto made, TraceOnce(subject, inputs, kPoisonBytes[0]));
    if (const auto* rejection = std::get_if<Rejection>(&made)) {
      failure = rejection->reason;
      return std::vector<Tensor>();
    }
    auto& live = std::get<LiveCase>(made);
    if (c.is_timed) {
      // Where its blocks come in another order the launcher may decide otherwise: what it computed
      // while it decided is what counts.
      return std::move(live.outputs.front().buffers);
    }
    traced = std::move(live.plan);
    run.repeatable = true;  // the launches of a run that can be repeated
  }
  run.plan = original.live != nullptr ? &traced : &original.plans.at(c.plan);
  OPTIML_ASSIGN(PlanResult result, RunPlan(task_, run, device_));
  if (result.outcome.status != RunStatus::kCompleted || !result.outcome.findings.empty()) {
    failure = result.outcome.reason.empty() ? "it did not complete" : result.outcome.reason;
    return std::vector<Tensor>();
  }
  if (!result.changed_input.empty()) {
    failure = fmt::format("it writes to its input {}", result.changed_input);
  }
  const std::vector<uint64_t>& work = result.outcome.pass_work;
  if (in_double != nullptr && failure.empty() && !work.empty() && work[0] <= kMostFollowed) {
    run.follow = true;
    OPTIML_ASSIGN(PlanResult followed, RunPlan(task_, run, device_));
    *in_double = std::move(followed.in_double);
  }
  // Inputs are the case's own.
  const std::vector<const ArgSpec*> args = BufferArgs(task_);
  for (size_t i = 0; i < result.buffers.size(); ++i) {
    if (!IsOutput(*args[i])) {
      result.buffers[i] = Tensor{};
    }
  }
  return std::move(result.buffers);
}

// Recorded tensors serve the checked row with its declared inputs; elsewhere the original does.
bool CaseLibrary::HasReference(const VerifyCase& c) const {
  return c.has_truth || task_.reference.kind == ReferenceKind::kHost ||
         (task_.reference.kind == ReferenceKind::kRecorded && c.is_binding);
}

Result<std::vector<Tensor>> CaseLibrary::ReferenceOutputs(const VerifyCase& c) {
  if (task_.reference.kind == ReferenceKind::kHost) {
    OPTIML_CHECK(reference_ != nullptr, "a task with a host reference is verified with it");
    return reference_->Run(c.inputs);
  }
  if (!HasReference(c)) {
    std::vector<Tensor> outputs;
    for (const Tensor& tensor : c.original) {
      outputs.push_back(tensor.bytes.empty() ? Tensor{} : Widened(tensor));
    }
    return outputs;
  }
  std::vector<Tensor> outputs;
  size_t i = 0;
  for (const ArgSpec* arg : BufferArgs(task_)) {
    Tensor tensor = c.inputs.buffers[i++];
    if (arg->role == ArgRole::kOut) {
      const auto& file = task_.reference.recorded.at(arg->name);
      const std::vector<int64_t> shape = tensor.shape;
      OPTIML_ASSIGN(tensor, LoadNpy(file));
      OPTIML_TRY(CheckRecorded(tensor, *arg, shape, file));
    }
    outputs.push_back(Widened(tensor));
  }
  return outputs;
}

CaseLibrary::Budgets CaseLibrary::MakeBudgets(const VerifyCase& c,
                                              const CaseConditioning& conditioning) const {
  const double terms = ReductionTerms(task_, c.inputs.sizes);
  const std::vector<const ArgSpec*> args = BufferArgs(task_);
  Budgets budgets(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (IsOutput(*args[i]) && IsFloat(args[i]->dtype)) {
      Conditioning known;
      known.magnitudes = conditioning.magnitudes.empty() ? nullptr : &conditioning.magnitudes[i];
      known.moved = conditioning.moved.empty() ? nullptr : &conditioning.moved[i];
      budgets[i].emplace(task_, *args[i], terms, c.expected[i], known);
    }
  }
  return budgets;
}

double CaseLibrary::MeasureOriginal(const VerifyCase& c, Budgets& budgets) const {
  double worst = 0;
  for (size_t i = 0; i < budgets.size(); ++i) {
    if (!budgets[i]) {
      continue;
    }
    const double ratio = budgets[i]->WorstRatio(c.expected[i], c.original[i]);
    if (HasReference(c)) {
      budgets[i]->Widen(std::max(1.0, kOriginalFactor * ratio));
    } else if (i < c.in_double.size() && !c.in_double[i].bytes.empty()) {
      budgets[i]->Widen(FollowedMultiplier(budgets[i]->WorstRatio(c.in_double[i], c.original[i])));
    } else {
      budgets[i]->Widen(kUnmeasuredFactor);
    }
    worst = std::max(worst, ratio);
  }
  return worst;
}

namespace {

// Whether the reference itself failed on its inputs; not the machine, and not the user's patience.
bool IsItsOwnFailure(const Error& error) {
  return error.code() == ErrorCode::kInvalidArgument;
}

}  // namespace

Result<void> CaseLibrary::FillIn(VerifyCase& c, const PreparedSource& original) {
  const auto drop = [&](std::string reason) {
    c.dropped = true;
    c.drop_reason = std::move(reason);
  };
  std::string failure;
  OPTIML_ASSIGN(c.original, RunOriginal(c, c.inputs, original, failure,
                                        HasReference(c) ? nullptr : &c.in_double));
  if (!failure.empty()) {
    if (c.is_binding) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the original kernel cannot be checked against: at {}: {}",
                               c.inputs.text, failure));
    }
    drop("the original fails: " + failure);
    return {};
  }
  Result<std::vector<Tensor>> expected = ReferenceOutputs(c);
  if (!expected) {
    if (c.is_binding || !IsItsOwnFailure(expected.error())) {
      return std::move(expected).error();
    }
    drop("the reference fails: " + expected.error().message());
    return {};
  }
  c.expected = *std::move(expected);
  // Once for each row of the task: its declared fills are what sampled shapes will be filled with.
  if (reference_ != nullptr && reference_->has_range() && c.is_first && c.is_binding) {
    OPTIML_TRY(CheckReferenceRange(task_, *reference_, c.inputs, c.expected));
  }
  c.budgets = MakeBudgets(c, {});
  return truth_ && !HasReference(c) ? AskForTruth(c) : Result<void>();
}

Result<void> CaseLibrary::AskForTruth(VerifyCase& c) {
  OPTIML_ASSIGN(std::vector<Tensor> truth, truth_(c));
  const std::vector<Tensor> own = c.expected;
  for (size_t i = 0; i < truth.size(); ++i) {
    if (!truth[i].bytes.empty()) {
      c.expected[i] = std::move(truth[i]);
      c.has_truth = true;
    }
  }
  if (!c.has_truth) {
    return {};
  }
  Budgets budgets = MakeBudgets(c, {});
  Budgets wide = budgets;
  for (auto& budget : wide) {
    if (budget) {
      budget->Widen(kDisagreement);
    }
  }
  c.has_truth = CompareOnce(c, wide, c.original, kPoisonBytes[0]).matches();
  if (c.has_truth) {
    c.budgets = std::move(budgets);
  } else {
    c.expected = own;
  }
  return {};
}

Result<std::vector<Tensor>> CaseLibrary::OutputsOn(const VerifyCase& c, const TaskInputs& inputs,
                                                   const PreparedSource& original) {
  if (task_.reference.kind == ReferenceKind::kHost) {
    Result<std::vector<Tensor>> result = reference_->Run(inputs);
    return result || !IsItsOwnFailure(result.error()) ? std::move(result) : std::vector<Tensor>();
  }
  std::string failure;
  OPTIML_ASSIGN(std::vector<Tensor> result, RunOriginal(c, inputs, original, failure));
  return failure.empty() ? std::move(result) : std::vector<Tensor>();
}

Result<void> CaseLibrary::AddConditioning(size_t index, const PreparedSource& original) {
  VerifyCase& c = cases_[index];
  if (conditioning_.contains(index)) {
    return {};
  }
  CaseConditioning& conditioning = conditioning_[index];
  OPTIML_ASSIGN(conditioning.magnitudes, OutputsOn(c, MagnitudesOf(c.inputs), original));
  // What moved is compared with what the same function gave before it moved.
  OPTIML_ASSIGN(const std::vector<Tensor> still, OutputsOn(c, c.inputs, original));
  const std::vector<const ArgSpec*> args = BufferArgs(task_);
  for (uint64_t move = 0; move < kMoves && !still.empty(); ++move) {
    OPTIML_ASSIGN(const std::vector<Tensor> outputs,
                  OutputsOn(c, MovedBy(c.inputs, c.seed + 1000 * move), original));
    if (outputs.empty()) {
      break;
    }
    conditioning.moved.resize(args.size());
    for (size_t i = 0; i < args.size(); ++i) {
      if (!IsOutput(*args[i]) || !IsFloat(args[i]->dtype)) {
        continue;
      }
      Tensor& moved = conditioning.moved[i];
      if (move == 0) {
        moved = MakeTensor(DType::kF64, still[i].shape);
      }
      for (int64_t e = 0; e < moved.element_count(); ++e) {
        const double distance = std::fabs(outputs[i].At(e) - still[i].At(e));
        if (std::isfinite(distance) && distance > moved.At(e)) {
          StoreElement(DType::kF64, distance, moved.bytes.data() + static_cast<size_t>(e) * 8);
        }
      }
    }
  }
  c.conditioned = MakeBudgets(c, conditioning);
  MeasureOriginal(c, c.conditioned);
  return {};
}

Result<const VerifyCase*> CaseLibrary::Resolve(size_t index, const PreparedSource& original) {
  VerifyCase& c = cases_.at(index);
  if (resolved_[index]) {
    return &c;
  }
  OPTIML_TRY(FillIn(c, original));
  if (c.dropped) {
    resolved_[index] = true;
    return &c;
  }
  if (MeasureOriginal(c, c.budgets) > 1) {
    OPTIML_TRY(AddConditioning(index, original));
    c.budgets = c.conditioned;
  }
  // The original against its reference, in the task's own tolerance where it has one, and within a
  // budget that no inaccuracy explains otherwise.
  Budgets wide = c.budgets;
  for (auto& budget : wide) {
    if (budget) {
      budget->Widen(kDisagreement);
    }
  }
  const Outcome agreement = CompareOnce(c, wide, c.original, kPoisonBytes[0]);
  if (!agreement.matches()) {
    if (agreement.first->unwritten && c.is_binding) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("the original kernel leaves outputs unwritten at {}: {}; an argument "
                      "that is only partly written has role = \"inout\"",
                      c.inputs.text, MismatchText(*agreement.first)));
    }
    const std::string what = fmt::format("at {}: {} ({} elements differ)", c.inputs.text,
                                         MismatchText(*agreement.first), agreement.mismatch_count);
    if (c.is_binding) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the reference disagrees with the original kernel {} (got is the "
                               "kernel's): one of them is wrong, or [tolerance] is too tight",
                               what));
    }
    c.dropped = true;
    c.drop_reason = "the original disagrees with the reference " + what;
  }
  // Denormal values count in the case that has them, where the original has all of them right.
  if (c.fill == FillKind::kSpecial) {
    c.denormals = true;
    c.denormals = CompareOnce(c, wide, c.original, std::nullopt).matches();
  }
  // Signs of zero count where special values are legal and the original has them all right.
  if (std::any_of(task_.args.begin(), task_.args.end(),
                  [](const ArgSpec& arg) { return arg.allow_special; })) {
    c.signed_zeros = true;
    c.signed_zeros = CompareOnce(c, wide, c.original, std::nullopt).matches();
  }
  resolved_[index] = true;
  return &c;
}

namespace {

CompareOptions OptionsFor(const ArgSpec& arg, const VerifyCase& c, std::optional<uint8_t> poison) {
  CompareOptions options;
  options.poison = arg.role == ArgRole::kOut ? poison : std::nullopt;
  options.signed_zeros = c.signed_zeros;
  options.denormals = c.denormals;
  return options;
}

}  // namespace

CaseLibrary::Outcome CaseLibrary::CompareOnce(const VerifyCase& c, const Budgets& budgets,
                                              const std::vector<Tensor>& buffers,
                                              std::optional<uint8_t> poison) const {
  Outcome outcome;
  const std::vector<const ArgSpec*> args = BufferArgs(task_);
  for (size_t i = 0; i < args.size(); ++i) {
    if (!IsOutput(*args[i])) {
      continue;
    }
    const Comparison one =
        Compare(*args[i], c.expected[i], buffers[i], budgets[i] ? &*budgets[i] : nullptr,
                OptionsFor(*args[i], c, poison));
    if (!outcome.first && one.first) {
      outcome.first = one.first;
    }
    outcome.mismatch_count += one.mismatch_count;
    outcome.max_absolute_error = std::max(outcome.max_absolute_error, one.max_absolute_error);
    outcome.max_relative_error = std::max(outcome.max_relative_error, one.max_relative_error);
    outcome.max_budget_ratio = std::max(outcome.max_budget_ratio, one.max_budget_ratio);
  }
  return outcome;
}

bool CaseLibrary::AreBitsOfTheOriginal(const VerifyCase& c,
                                       const std::vector<Tensor>& buffers) const {
  const std::vector<const ArgSpec*> args = BufferArgs(task_);
  for (size_t i = 0; i < args.size(); ++i) {
    if (IsOutput(*args[i]) && buffers[i].bytes != c.original[i].bytes) {
      return false;
    }
  }
  return true;
}

ErrorMap CaseLibrary::DrawFirst(const VerifyCase& c, const Budgets& budgets,
                                const std::vector<Tensor>& buffers, std::optional<uint8_t> poison,
                                const std::string& argument) const {
  const std::vector<const ArgSpec*> args = BufferArgs(task_);
  const auto found =
      std::ranges::find(args, argument, [](const ArgSpec* arg) { return arg->name; });
  OPTIML_CHECK(found != args.end(), "a mismatch is of an output");
  const auto i = static_cast<size_t>(found - args.begin());
  return DrawErrors(**found, c.expected[i], buffers[i], budgets[i] ? &*budgets[i] : nullptr,
                    OptionsFor(**found, c, poison));
}

namespace {

std::vector<std::optional<ErrorBudget>> Tightened(std::vector<std::optional<ErrorBudget>> budgets,
                                                  std::optional<double> share) {
  for (auto& budget : budgets) {
    if (budget && share) {
      budget->Tighten(*share);
    }
  }
  return budgets;
}

}  // namespace

Result<CaseLibrary::Outcome> CaseLibrary::CompareOutputs(size_t index,
                                                         const std::vector<Tensor>& buffers,
                                                         std::optional<uint8_t> poison,
                                                         const PreparedSource& original,
                                                         std::optional<double> share) {
  OPTIML_CHECK(resolved_[index] && !cases_[index].dropped, "only resolved cases are compared");
  const VerifyCase& c = cases_[index];
  if ((c.has_truth || !HasReference(c)) && AreBitsOfTheOriginal(c, buffers)) {
    return Outcome();  // which are right by definition
  }
  Budgets budgets = Tightened(c.budgets, share);
  Outcome outcome = CompareOnce(c, budgets, buffers, poison);
  // A wrong element is far off; one that only cancelled is near its budget.
  if (!outcome.matches() && !outcome.first->unwritten) {
    OPTIML_TRY(AddConditioning(index, original));
    budgets = Tightened(c.conditioned, share);
    outcome = CompareOnce(c, budgets, buffers, poison);
  }
  if (!outcome.matches()) {
    outcome.map = DrawFirst(c, budgets, buffers, poison, outcome.first->argument);
  }
  return outcome;
}

}  // namespace optiml
