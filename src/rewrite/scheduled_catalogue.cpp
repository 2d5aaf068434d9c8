#include "rewrite/scheduled_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "rewrite/emit/emit.h"
#include "rewrite/schedule/kernel_facts.h"
#include "rewrite/schedule/transformation.h"
#include "rewrite/sketch/sketches.h"
#include "rewrite/textual/text_edits.h"

namespace optiml::rewrite {
namespace {

constexpr size_t kMostEdits = 15;         // of one node
constexpr char kKernelHole[] = "kernel";  // which kernel an edit is about, where there are several

// What a chain asks for, kernel by kernel.
struct Plan {
  std::vector<Schedule> schedules;      // of the lifted kernels
  std::vector<std::vector<Edit>> text;  // of the others
};

// Whether one of `more` changes text that one of `made` changes: the literal of a block size that
// two kernels share, say.
bool Collide(const std::vector<Replacement>& made, const std::vector<Replacement>& more) {
  return std::any_of(made.begin(), made.end(), [&](const Replacement& a) {
    return std::any_of(more.begin(), more.end(),
                       [&](const Replacement& b) { return a.begin < b.end && b.begin < a.end; });
  });
}

class ScheduledCatalogue : public Catalogue {
 public:
  ScheduledCatalogue(std::shared_ptr<const ast::SourceUnit> unit, KernelSource root,
                     std::vector<KernelFacts> kernels, std::vector<TextKernel> text_kernels,
                     std::vector<LiftReport> reports)
      : unit_(std::move(unit)),
        root_(std::move(root)),
        kernels_(std::move(kernels)),
        text_kernels_(std::move(text_kernels)),
        reports_(std::move(reports)) {}

  const std::vector<LiftReport>& Lifted() const override { return reports_; }

  std::vector<Edit> Propose(std::span<const Edit> chain,
                            const Diagnosis* diagnosis) const override {
    std::variant<Plan, ApplyRefusal> made = MakePlan(chain);
    if (!std::holds_alternative<Plan>(made)) {
      return {};
    }
    const Plan& plan = std::get<Plan>(made);
    std::set<std::string> used;
    for (const Edit& edit : chain) {
      used.insert(edit.Label());
    }
    const std::variant<std::vector<Replacement>, ApplyRefusal> made_by_text =
        TextReplacements(plan);
    if (!std::holds_alternative<std::vector<Replacement>>(made_by_text)) {
      return {};
    }
    std::vector<Edit> edits;
    for (size_t i = 0; i < kernels_.size(); ++i) {
      ProposeFor(i, plan.schedules[i], used, &edits);
    }
    for (size_t i = 0; i < text_kernels_.size(); ++i) {
      std::vector<std::string> taken;
      for (const Edit& edit : plan.text[i]) {
        taken.push_back(edit.rewrite);
      }
      for (Edit& edit : ProposeTextEdits(text_kernels_[i], taken)) {
        const auto replacements = ApplyTextEdit(text_kernels_[i], edit);
        if (Collide(std::get<std::vector<Replacement>>(made_by_text),
                    std::get<std::vector<Replacement>>(replacements))) {
          continue;
        }
        AddKernel(text_kernels_[i].index, &edit);
        edits.push_back(std::move(edit));
      }
    }
    for (Edit& edit : edits) {
      if (diagnosis != nullptr && diagnosis->bound != Bound::kUnknown) {
        edit.prior *= edit.aims_at == diagnosis->bound ? 2.0 : 0.8;
      }
    }
    std::stable_sort(edits.begin(), edits.end(),
                     [](const Edit& a, const Edit& b) { return a.prior > b.prior; });
    if (edits.size() > kMostEdits) {
      edits.resize(kMostEdits);
    }
    return edits;
  }

  ApplyOutcome Apply(std::span<const Edit> chain) const override {
    if (chain.empty()) {
      return root_;
    }
    std::variant<Plan, ApplyRefusal> made = MakePlan(chain);
    if (auto* refusal = std::get_if<ApplyRefusal>(&made)) {
      return *refusal;
    }
    const Plan& plan = std::get<Plan>(made);
    std::vector<ScheduledKernel> scheduled;
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (!plan.schedules[i].primitives.empty()) {
        scheduled.push_back({&kernels_[i], plan.schedules[i]});
      }
    }
    std::variant<std::vector<Replacement>, ApplyRefusal> replacements = TextReplacements(plan);
    if (auto* refusal = std::get_if<ApplyRefusal>(&replacements)) {
      return *refusal;
    }
    return EmitSource(*unit_, root_, scheduled,
                      std::get<std::vector<Replacement>>(std::move(replacements)));
  }

  ApplyOutcome Identity() const override {
    if (kernels_.empty()) {
      return ApplyRefusal{"no kernel was lifted"};
    }
    std::vector<ScheduledKernel> scheduled;
    for (const KernelFacts& facts : kernels_) {
      scheduled.push_back({&facts, Schedule{}});
    }
    return EmitSource(*unit_, root_, scheduled, {});
  }

 private:
  size_t kernel_count() const { return kernels_.size() + text_kernels_.size(); }

  // What all text edits of the plan change.
  std::variant<std::vector<Replacement>, ApplyRefusal> TextReplacements(const Plan& plan) const {
    std::vector<Replacement> replacements;
    for (size_t i = 0; i < text_kernels_.size(); ++i) {
      for (const Edit& edit : plan.text[i]) {
        std::variant<std::vector<Replacement>, std::string> outcome =
            ApplyTextEdit(text_kernels_[i], edit);
        if (auto* reason = std::get_if<std::string>(&outcome)) {
          return ApplyRefusal{fmt::format("{}: {}", edit.Label(), *reason)};
        }
        auto& more = std::get<std::vector<Replacement>>(outcome);
        if (Collide(replacements, more)) {
          return ApplyRefusal{
              fmt::format("{}: another edit of the chain changes the same text", edit.Label())};
        }
        std::move(more.begin(), more.end(), std::back_inserter(replacements));
      }
    }
    return replacements;
  }

  void AddKernel(int index, Edit* edit) const {
    if (kernel_count() > 1) {
      edit->parameters[kKernelHole] = index;
    }
  }

  // The chain as schedules and text edits, all legal; or why it is not.
  std::variant<Plan, ApplyRefusal> MakePlan(std::span<const Edit> chain) const {
    Plan plan;
    plan.schedules.resize(kernels_.size());
    plan.text.resize(text_kernels_.size());
    for (const Edit& edit : chain) {
      if (edit.origin == EditOrigin::kModel) {
        return ApplyRefusal{"a model's edit replaces the whole text; lift the result anew"};
      }
      Parameters holes = edit.parameters;
      int64_t index = kernel_count() == 1 && !kernels_.empty() ? kernels_[0].index : -1;
      if (const auto found = holes.find(kKernelHole); found != holes.end()) {
        index = found->second;
        holes.erase(found);
      } else if (kernel_count() == 1 && kernels_.empty()) {
        index = text_kernels_[0].index;
      }
      if (edit.origin == EditOrigin::kTextRewrite) {
        size_t at = 0;
        while (at < text_kernels_.size() && text_kernels_[at].index != index) {
          ++at;
        }
        if (at == text_kernels_.size()) {
          return ApplyRefusal{fmt::format("{}: no such kernel", edit.Label())};
        }
        plan.text[at].push_back(edit);
        continue;
      }
      size_t at = 0;
      while (at < kernels_.size() && kernels_[at].index != index) {
        ++at;
      }
      if (at == kernels_.size()) {
        return ApplyRefusal{fmt::format("{}: no such kernel", edit.Label())};
      }
      Schedule& schedule = plan.schedules[at];
      if (const Sketch* sketch = FindSketch(edit.rewrite)) {
        if (sketch->kind != kernels_[at].shape.kind) {
          return ApplyRefusal{fmt::format("{}: {} is a {}", edit.Label(),
                                          kernels_[at].program.kernel,
                                          ShapeKindName(kernels_[at].shape.kind))};
        }
        const Schedule expanded = sketch->expand(kernels_[at], holes);
        for (const Primitive& primitive : expanded.primitives) {
          schedule.Set(primitive.name, primitive.parameters);
        }
      } else if (FindTransformation(edit.rewrite) != nullptr) {
        schedule.Set(edit.rewrite, holes);
      } else {
        return ApplyRefusal{fmt::format("there is no rewrite \"{}\"", edit.rewrite)};
      }
    }
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (std::optional<std::string> reason = RefuseSchedule(kernels_[i], plan.schedules[i])) {
        return ApplyRefusal{*reason};
      }
    }
    return plan;
  }

  void ProposeFor(size_t kernel, const Schedule& schedule, const std::set<std::string>& used,
                  std::vector<Edit>* edits) const {
    const KernelFacts& facts = kernels_[kernel];
    // Later choices of the same rewrite are tried after the first.
    constexpr double kRankDecay = 0.6;
    const auto add = [&](const std::string& name, const Parameters& holes, const Schedule& result,
                         const auto& summary, Bound aims_at, const std::vector<MetricClaim>& claim,
                         double* prior) {
      if (result.Format() == schedule.Format() || RefuseSchedule(facts, result)) {
        return;
      }
      Edit edit;
      edit.origin = EditOrigin::kRewrite;
      edit.rewrite = name;
      edit.parameters = holes;
      edit.summary = summary(facts, holes);
      edit.aims_at = aims_at;
      edit.claim = claim;
      edit.prior = *prior;
      AddKernel(facts.index, &edit);
      if (used.count(edit.Label()) != 0) {
        return;
      }
      *prior *= kRankDecay;
      edits->push_back(std::move(edit));
    };
    if (schedule.primitives.empty()) {
      for (const Sketch& sketch : Sketches()) {
        if (sketch.kind != facts.shape.kind) {
          continue;
        }
        double prior = sketch.prior;
        for (const Parameters& holes : sketch.choices(facts)) {
          add(sketch.name, holes, sketch.expand(facts, holes), sketch.summary, sketch.aims_at,
              sketch.claim, &prior);
        }
      }
    }
    for (const Transformation& transformation : Transformations()) {
      // A hole that was set before is changed with less hope than a new primitive is added.
      const bool again = schedule.Has(transformation.name);
      double prior = transformation.prior * (again ? 0.3 : 1.0);
      for (const Parameters& holes : transformation.choices(facts)) {
        Schedule longer = schedule;
        longer.Set(transformation.name, holes);
        add(transformation.name, holes, longer, transformation.summary, transformation.aims_at,
            transformation.claim, &prior);
      }
    }
  }

  std::shared_ptr<const ast::SourceUnit> unit_;
  KernelSource root_;
  std::vector<KernelFacts> kernels_;
  std::vector<TextKernel> text_kernels_;
  std::vector<LiftReport> reports_;
};

// Why a lifted program is not what the root launches, or nothing.
std::optional<std::string> RefuseAssumptions(const Program& program, const KernelFacts& facts) {
  for (const ExprPtr& assumption : program.assumptions) {
    if (facts.launches.empty()) {
      return fmt::format("{} cannot be checked: the kernel is not launched", Print(assumption));
    }
    for (const LaunchFacts& launch : facts.launches) {
      std::map<std::string, int64_t> values = launch.integers;
      const auto add = [&](const char* name, const Dim3& value) {
        values[std::string(name) + ".x"] = value.x;
        values[std::string(name) + ".y"] = value.y;
        values[std::string(name) + ".z"] = value.z;
      };
      add("blockDim", launch.block);
      add("gridDim", launch.grid);
      const std::optional<int64_t> holds = Evaluate(assumption, values);
      if (!holds || *holds == 0) {
        return fmt::format("a launch does not keep to {}", Print(assumption));
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Catalogue> MakeCatalogueOf(const KernelSource& root,
                                           std::shared_ptr<const ast::SourceUnit> unit,
                                           const std::vector<LaunchPlan>& plans,
                                           const TargetLimits& limits,
                                           const std::vector<KernelProgram>& programs,
                                           const std::vector<LaunchPlan>& checked_plans) {
  std::vector<LaunchPlan> all_plans = plans;
  all_plans.insert(all_plans.end(), checked_plans.begin(), checked_plans.end());
  std::vector<KernelFacts> kernels;
  std::vector<TextKernel> text_kernels;
  std::vector<LiftReport> reports;
  int index = 0;
  for (const KernelProgram& program : programs) {
    LiftReport report;
    report.kernel = program.function->name_expression;
    report.detail = program.refusal;
    if (program.program) {
      KernelFacts facts =
          MakeKernelFacts(index, *unit, *program.function, *program.program, plans, limits);
      std::optional<std::string> reason =
          RefuseReplacement(*unit, *program.function, facts.launched_by_task);
      if (!reason) {
        reason = RefuseAssumptions(facts.lifted, facts);
      }
      if (!reason) {
        report.lifted = true;
        report.regroups_floats = program.program->regroups_floats;
        report.detail = rewrite::Format(*program.program);
        kernels.push_back(std::move(facts));
      } else {
        report.detail = *reason;
      }
    }
    if (!report.lifted) {
      text_kernels.push_back(MakeTextKernel(index, *unit, *program.function, all_plans));
    }
    reports.push_back(std::move(report));
    ++index;
  }
  return std::make_unique<ScheduledCatalogue>(std::move(unit), root, std::move(kernels),
                                              std::move(text_kernels), std::move(reports));
}

}  // namespace optiml::rewrite
