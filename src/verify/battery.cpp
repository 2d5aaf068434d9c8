#include "verify/battery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

namespace optiml {
namespace {

// What accepting a mutant says of the task.
enum class Severity {
  kMustReject,  // no kernel of a real task answers like that
  kMayBeRight,  // right for some tasks: a copy, a shift of a constant, 1 % of nothing
};

struct ResolvedCase {
  size_t index = 0;
  const VerifyCase* data = nullptr;
};

// Outputs by buffer argument in the task's dtypes, or nothing where the mutant does not apply.
using Outputs = std::optional<std::vector<Tensor>>;

struct Mutant {
  std::string name;
  Severity severity = Severity::kMustReject;
  std::string advice;                   // the fix when it is accepted
  std::function<Outputs(size_t)> make;  // of a position in the list of cases
};

bool IsOutput(const ArgSpec& arg) {
  return arg.is_buffer && (arg.role == ArgRole::kOut || arg.role == ArgRole::kInOut);
}

class Battery {
 public:
  Battery(const KernelTask& task, CaseLibrary& library, const PreparedSource& original)
      : task_(task), library_(library), original_(original) {
    for (const ArgSpec& arg : task.args) {
      if (arg.is_buffer) {
        args_.push_back(&arg);
      }
    }
  }

  Result<void> Collect() {
    for (size_t i = 0; i < library_.size(); ++i) {
      OPTIML_ASSIGN(const VerifyCase* c, library_.Resolve(i, original_));
      if (!c->dropped) {
        (c->fill ? others_ : declared_).push_back({i, c});
      }
    }
    return {};
  }

  Result<std::vector<BatteryVerdict>> Rows() {
    std::vector<BatteryVerdict> rows;
    for (const Mutant& mutant : Mutants()) {
      OPTIML_ASSIGN(std::optional<BatteryVerdict> row, Judge(mutant));
      if (row) {
        rows.push_back(*std::move(row));
      }
    }
    return rows;
  }

  std::string AdviceFor(const std::string& name) {
    for (const Mutant& mutant : Mutants()) {
      if (mutant.name == name) {
        return mutant.advice;
      }
    }
    return "";
  }

 private:
  // The case's expected outputs in the task's dtypes, each changed by `change`.
  Outputs Changed(const ResolvedCase& c,
                  const std::function<bool(const ArgSpec&, Tensor&)>& change) const {
    std::vector<Tensor> outputs;
    bool any = false;
    for (size_t i = 0; i < args_.size(); ++i) {
      outputs.push_back(c.data->original[i]);
      if (IsOutput(*args_[i])) {
        outputs.back() = Narrowed(c.data->expected[i], args_[i]->dtype);
        any |= change(*args_[i], outputs.back());
      }
    }
    return any ? Outputs(std::move(outputs)) : std::nullopt;
  }

  static Tensor Narrowed(const Tensor& tensor, DType dtype) {
    if (tensor.dtype == dtype) {
      return tensor;
    }
    Tensor result = MakeTensor(dtype, tensor.shape);
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      Put(result, i, tensor.At(i));
    }
    return result;
  }

  static void Put(Tensor& tensor, int64_t i, double value) {
    StoreElement(tensor.dtype, value,
                 tensor.bytes.data() + static_cast<size_t>(i) * DTypeBytes(tensor.dtype));
  }

  const ResolvedCase& At(size_t position) const {
    return position < declared_.size() ? declared_[position] : others_[position - declared_.size()];
  }

  // A constant that is the same in all cases: taken from the first declared one.
  double ConstantFor(size_t arg, bool mean) const {
    const Tensor& expected = declared_.front().data->expected[arg];
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < expected.element_count(); ++i) {
      if (std::isfinite(expected.At(i))) {
        sum += expected.At(i);
        ++count;
        if (!mean) {
          break;
        }
      }
    }
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }

  Outputs Constant(size_t position, bool mean) const {
    size_t arg = 0;
    std::vector<double> values;
    for (; arg < args_.size(); ++arg) {
      values.push_back(IsOutput(*args_[arg]) ? ConstantFor(arg, mean) : 0);
    }
    return Changed(At(position), [&](const ArgSpec& spec, Tensor& tensor) {
      const auto index =
          static_cast<size_t>(std::find(args_.begin(), args_.end(), &spec) - args_.begin());
      for (int64_t i = 0; i < tensor.element_count(); ++i) {
        Put(tensor, i, values[index]);
      }
      return tensor.element_count() > 0;
    });
  }

  Outputs CopyOf(size_t position, size_t input) const {
    const ResolvedCase& c = At(position);
    const Tensor& from = c.data->inputs.buffers[input];
    return Changed(c, [&](const ArgSpec&, Tensor& tensor) {
      if (from.element_count() != tensor.element_count() || from.dtype != tensor.dtype) {
        return false;
      }
      tensor.bytes = from.bytes;
      return tensor.element_count() > 0;
    });
  }

  // The output of another case with the same shapes: what a kernel that replays an old result
  // gives.
  Outputs Stale(size_t position) const {
    const ResolvedCase& c = At(position);
    const size_t total = declared_.size() + others_.size();
    for (size_t i = 0; i < total; ++i) {
      const ResolvedCase& other = At(i);
      if (other.index != c.index && other.data->row == c.data->row) {
        std::vector<Tensor> outputs;
        for (size_t k = 0; k < args_.size(); ++k) {
          outputs.push_back(IsOutput(*args_[k]) ? Narrowed(other.data->expected[k], args_[k]->dtype)
                                                : c.data->original[k]);
        }
        return outputs;
      }
    }
    return std::nullopt;
  }

  // Whether these are all rows that have cases.
  bool FitsEverywhere(const std::set<size_t>& rows) const {
    const auto fits = [&](const ResolvedCase& c) { return rows.contains(c.data->row); };
    return std::all_of(declared_.begin(), declared_.end(), fits) &&
           std::all_of(others_.begin(), others_.end(), fits);
  }

  std::vector<Mutant> Mutants() const;
  Result<bool> Accepts(const ResolvedCase& c, const std::vector<Tensor>& outputs, bool derived);
  Result<std::optional<BatteryVerdict>> Judge(const Mutant& mutant);

  const KernelTask& task_;
  CaseLibrary& library_;
  const PreparedSource& original_;
  std::vector<const ArgSpec*> args_;
  std::vector<ResolvedCase> declared_;
  std::vector<ResolvedCase> others_;
};

std::vector<Mutant> Battery::Mutants() const {
  const std::string fill_advice =
      "declare fills that make the outputs differ from it, or checked sizes with more elements";
  std::vector<Mutant> mutants;
  mutants.push_back({"zeros", Severity::kMustReject, fill_advice, [this](size_t p) {
                       return Changed(At(p), [](const ArgSpec&, Tensor& tensor) {
                         std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte{0});
                         return !tensor.bytes.empty();
                       });
                     }});
  mutants.push_back({"a constant (the mean)", Severity::kMustReject, fill_advice,
                     [this](size_t p) { return Constant(p, true); }});
  mutants.push_back({"a constant (the first value)", Severity::kMustReject, fill_advice,
                     [this](size_t p) { return Constant(p, false); }});
  for (size_t i = 0; i < args_.size(); ++i) {
    if (args_[i]->role == ArgRole::kIn || args_[i]->role == ArgRole::kInOut) {
      mutants.push_back({fmt::format("a copy of {}", args_[i]->name), Severity::kMayBeRight, "",
                         [this, i](size_t p) { return CopyOf(p, i); }});
    }
  }
  const bool has_inputs = std::any_of(task_.args.begin(), task_.args.end(), [](const ArgSpec& arg) {
    return arg.is_buffer ? arg.role == ArgRole::kIn || arg.role == ArgRole::kInOut
                         : !arg.is_size && !arg.value;
  });
  mutants.push_back({"the output of other inputs",
                     has_inputs ? Severity::kMustReject : Severity::kMayBeRight,
                     "declare fills that vary with the seed (normal, uniform, randint)",
                     [this](size_t p) { return Stale(p); }});
  mutants.push_back({"half of the work", Severity::kMustReject, fill_advice, [this](size_t p) {
                       return Changed(At(p), [](const ArgSpec&, Tensor& tensor) {
                         const size_t half = tensor.bytes.size() / 2 / DTypeBytes(tensor.dtype) *
                                             DTypeBytes(tensor.dtype);
                         std::fill(tensor.bytes.begin() + static_cast<std::ptrdiff_t>(half),
                                   tensor.bytes.end(), std::byte{0});
                         return !tensor.bytes.empty();
                       });
                     }});
  mutants.push_back({"a 1 % scale error", Severity::kMayBeRight, "", [this](size_t p) {
                       return Changed(At(p), [](const ArgSpec&, Tensor& tensor) {
                         for (int64_t i = 0; i < tensor.element_count(); ++i) {
                           Put(tensor, i, 1.01 * tensor.At(i));
                         }
                         return tensor.element_count() > 0;
                       });
                     }});
  mutants.push_back({"a shift by one element", Severity::kMayBeRight, "", [this](size_t p) {
                       return Changed(At(p), [](const ArgSpec&, Tensor& tensor) {
                         const auto step = static_cast<std::ptrdiff_t>(DTypeBytes(tensor.dtype));
                         if (tensor.element_count() < 2) {
                           return false;
                         }
                         std::rotate(tensor.bytes.begin(), tensor.bytes.begin() + step,
                                     tensor.bytes.end());
                         return true;
                       });
                     }});
  return mutants;
}

// `derived`: within the budget that we derive, whatever the task's own tolerance says.
Result<bool> Battery::Accepts(const ResolvedCase& c, const std::vector<Tensor>& outputs,
                              bool derived) {
  if (!derived) {
    OPTIML_ASSIGN(const CaseLibrary::Outcome outcome,
                  library_.CompareOutputs(c.index, outputs, std::nullopt, original_));
    return outcome.matches();
  }
  KernelTask strict = task_;
  strict.tolerance.absolute.reset();
  strict.tolerance.relative.reset();
  strict.tolerance.per_argument.clear();
  const double terms = ReductionTerms(task_, c.data->inputs.sizes);
  for (size_t i = 0; i < args_.size(); ++i) {
    if (!IsOutput(*args_[i])) {
      continue;
    }
    std::optional<ErrorBudget> budget;
    if (IsFloat(args_[i]->dtype)) {
      budget.emplace(strict, *args_[i], terms, c.data->expected[i], Conditioning());
    }
    if (!Compare(*args_[i], c.data->expected[i], outputs[i], budget ? &*budget : nullptr, {})
             .matches()) {
      return false;
    }
  }
  return true;
}

Result<std::optional<BatteryVerdict>> Battery::Judge(const Mutant& mutant) {
  BatteryVerdict verdict{mutant.name, "", ""};
  int applied = 0;
  int rejected = 0;
  bool differs = false;   // beyond the derived budget, somewhere
  std::set<size_t> rows;  // where the mutant fits the outputs
  std::string fitting;
  const auto over = [&](size_t begin, size_t end) -> Result<void> {
    for (size_t position = begin; position < end; ++position) {
      const Outputs outputs = mutant.make(position);
      if (!outputs) {
        continue;
      }
      ++applied;
      const ResolvedCase& c = At(position);
      if (rows.insert(c.data->row).second) {
        fitting += (fitting.empty() ? "" : ", ") + library_.rows().at(c.data->row).Text();
      }
      OPTIML_ASSIGN(const bool accepted, Accepts(c, *outputs, false));
      rejected += accepted ? 0 : 1;
      if (accepted && !differs) {
        OPTIML_ASSIGN(const bool within, Accepts(c, *outputs, true));
        differs = !within;
      }
    }
    return {};
  };
  OPTIML_TRY(over(0, declared_.size()));
  std::string fills = "the declared fills";
  if (rejected == 0) {
    OPTIML_TRY(over(declared_.size(), declared_.size() + others_.size()));
    fills = "all fills";
  }
  if (applied == 0) {
    return std::optional<BatteryVerdict>();
  }
  const std::string count = fmt::format("{} of {} cases with {}", rejected, applied, fills);
  if (rejected > 0) {
    verdict.verdict = "rejected";
    verdict.detail = count;
  } else if (mutant.severity == Severity::kMustReject) {
    verdict.verdict = "accepted";
    verdict.detail =
        differs ? "the task's tolerance hides it" : "every checked case has this very answer";
  } else if (!FitsEverywhere(rows)) {
    // No kernel answers like that at the other sizes: these say nothing of it.
    verdict.verdict = "not judged";
    verdict.detail = fmt::format("it fits the outputs only at {}, where it is right", fitting);
  } else {
    verdict.verdict = "equivalent";
    verdict.detail = differs ? "within the task's tolerance" : "it is right for this task";
  }
  return std::optional<BatteryVerdict>(std::move(verdict));
}

}  // namespace

Result<std::vector<BatteryVerdict>> BatteryRows(const KernelTask& task, CaseLibrary& library,
                                                const PreparedSource& original) {
  Battery battery(task, library, original);
  OPTIML_TRY(battery.Collect());
  return battery.Rows();
}

Result<std::vector<BatteryVerdict>> RunBattery(const KernelTask& task, CaseLibrary& library,
                                               const PreparedSource& original) {
  Battery battery(task, library, original);
  OPTIML_TRY(battery.Collect());
  OPTIML_ASSIGN(std::vector<BatteryVerdict> rows, battery.Rows());
  for (const BatteryVerdict& row : rows) {
    if (row.verdict == "accepted") {
      const bool tolerance = row.detail.find("tolerance") != std::string::npos;
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the task is too weak: its checks accept {} as an answer ({}); {}",
                               row.mutant, row.detail,
                               tolerance ? "tighten [tolerance]" : battery.AdviceFor(row.mutant)));
    }
  }
  return rows;
}

}  // namespace optiml
