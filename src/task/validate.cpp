// The rules that every task keeps, the rows of its checks, and its hash.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "base/file_system.h"
#include "task/inputs.h"
#include "task/names.h"
#include "task/task_file.h"

namespace optiml {
namespace {

std::string Place(const std::string& file, int line) {
  return line > 0 ? fmt::format("{}:{}", file, line) : file;
}

Error At(const std::string& where, const std::string& what) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", where, what));
}

// Whether the integer type can hold the value.
bool Fits(DType dtype, int64_t value) {
  const int bits = static_cast<int>(8 * DTypeBytes(dtype));
  if (dtype == DType::kBool) {
    return value == 0 || value == 1;
  }
  if (IsSignedInteger(dtype)) {
    return bits == 64 || (value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1));
  }
  return value >= 0 && (bits == 64 || value < int64_t{1} << bits);
}

Result<void> ValidateRange(const ArgSpec& arg, const SizeRow& row, const std::string& file) {
  const Fill& fill = arg.fill;
  const auto bound = [&](const std::optional<SizeExpr>& expression, std::optional<double> number,
                         double fallback) -> Result<double> {
    if (expression) {
      OPTIML_ASSIGN(const int64_t value, expression->Evaluate(row.sizes));
      return static_cast<double>(value);
    }
    return number.value_or(fallback);
  };
  Result<double> min = bound(fill.min, fill.min_value, 0);
  Result<double> max = bound(fill.max, fill.max_value, std::numeric_limits<double>::infinity());
  for (const auto* value : {&min, &max}) {
    if (!*value) {
      return At(WhereSaid(arg, file),
                fmt::format("{}: at {}: {}", arg.name, row.Text(), value->error().message()));
    }
  }
  if (fill.declared && fill.kind == FillKind::kRandInt && !fill.max) {
    return At(WhereSaid(arg, file), fmt::format("{}: fill = \"randint\" needs max", arg.name));
  }
  const bool ranged = fill.min || fill.max || fill.min_value || fill.max_value;
  if (ranged && !(*min < *max)) {
    return At(WhereSaid(arg, file),
              fmt::format("{}: the fill's range is empty at {}: min {} is not below max {}",
                          arg.name, row.Text(), *min, *max));
  }
  if (fill.total) {
    const Result<int64_t> total = fill.total->Evaluate(row.sizes);
    if (!total || *total < 0) {
      return At(WhereSaid(arg, file), fmt::format("{}: total at {}: {}", arg.name, row.Text(),
                                                  total ? fmt::format("{} is negative", *total)
                                                        : total.error().message()));
    }
  }
  return {};
}

Result<void> ValidateArgs(const KernelTask& task, const SizeRow& row, const std::string& file) {
  for (const ArgSpec& arg : task.args) {
    if (!arg.is_size) {
      continue;
    }
    const int64_t value = row.sizes.at(arg.name);
    if (!Fits(arg.dtype, value)) {
      return At(row.line > 0 ? Place(file, row.line) : WhereSaid(arg, file),
                fmt::format("size {} = {} does not fit in the argument's type {}", arg.name, value,
                            DTypeName(arg.dtype)));
    }
  }
  for (const ArgSpec& arg : task.args) {
    if (arg.is_size) {
      continue;
    }
    if (arg.is_buffer) {
      const Result<std::vector<int64_t>> shape = ShapeOf(task, arg, row.sizes);
      if (!shape) {
        return At(WhereSaid(arg, file), shape.error().message());
      }
    }
    if (!arg.is_buffer && arg.value && !IsFloat(arg.dtype) &&
        (*arg.value != std::floor(*arg.value) || std::fabs(*arg.value) > 0x1p53 ||
         !Fits(arg.dtype, static_cast<int64_t>(*arg.value)))) {
      return At(WhereSaid(arg, file),
                fmt::format("{}: value {} is no {}", arg.name, *arg.value, DTypeName(arg.dtype)));
    }
    OPTIML_TRY(ValidateRange(arg, row, file));
  }
  return {};
}

// Formulas of [cost], [tolerance] and [launch] on one row; messages name the formula's own line.
class FormulaCheck {
 public:
  FormulaCheck(const std::string& file, const std::map<std::string, int>& lines, const SizeRow& row)
      : file_(file), lines_(lines), row_(row) {}

  Result<void> AtLeast(int64_t lowest, const std::optional<SizeExpr>& formula,
                       const std::string& key) const {
    if (!formula) {
      return {};
    }
    const auto found = lines_.find(key);
    const int line = found == lines_.end() ? row_.line : found->second;
    const Result<int64_t> value = formula->Evaluate(row_.sizes);
    if (!value) {
      return At(Place(file_, line),
                fmt::format("{}: at {}: {}", key, row_.Text(), value.error().message()));
    }
    if (*value < lowest) {
      return At(Place(file_, line), fmt::format("{} \"{}\" is {} at {}, expected at least {}", key,
                                                formula->text(), *value, row_.Text(), lowest));
    }
    return {};
  }

 private:
  const std::string& file_;
  const std::map<std::string, int>& lines_;
  const SizeRow& row_;
};

Result<void> ValidateRow(const KernelTask& task, const SizeRow& row, const std::string& file,
                         const std::map<std::string, int>& formula_lines) {
  OPTIML_TRY(ValidateArgs(task, row, file));
  const FormulaCheck check(file, formula_lines, row);
  OPTIML_TRY(check.AtLeast(0, task.cost.bytes, "cost.bytes"));
  OPTIML_TRY(check.AtLeast(0, task.cost.operations, "cost.operations"));
  OPTIML_TRY(check.AtLeast(1, task.tolerance.reduction_length, "tolerance.reduction_length"));
  if (!task.launch) {
    return {};
  }
  for (const SizeExpr& extent : task.launch->grid) {
    OPTIML_TRY(check.AtLeast(1, extent, "launch.grid"));
  }
  for (const SizeExpr& extent : task.launch->block) {
    OPTIML_TRY(check.AtLeast(1, extent, "launch.block"));
  }
  return check.AtLeast(0, task.launch->dynamic_shared_bytes, "launch.dynamic_shared_bytes");
}

// Odd and prime extents: no power-of-two tile divides them. The lists are tried from large to small
// until the buffers stay small.
constexpr int64_t kMaxDerivedElements = 65'536;
constexpr std::array<std::array<int64_t, 5>, 4> kDerivedExtents = {
    {{1, 1, 1, 1, 1}, {7, 5, 3, 2, 3}, {33, 65, 17, 9, 5}, {257, 131, 19, 11, 7}}};

}  // namespace

std::string WhereSaid(const SizeRow& row, std::string_view flag, const std::string& file_name) {
  return row.line == kFlagLine ? fmt::format("{} {}", flag, row.Text())
                               : Place(file_name, row.line);
}

std::string WhereSaid(const ArgSpec& arg, const std::string& file_name) {
  return arg.line == kFlagLine ? "--arg " + arg.name : Place(file_name, arg.line);
}

std::vector<SizeRow> DeriveCheckedRows(const KernelTask& task) {
  std::vector<SizeRow> rows;
  for (const auto& extents : kDerivedExtents) {
    SizeRow row;
    row.line = kMadeLine;
    size_t i = 0;
    for (const auto& [name, timed] : task.timed.front().sizes) {
      row.sizes[name] = std::min(timed, extents[i++ % extents.size()]);
    }
    const bool is_small = std::all_of(task.args.begin(), task.args.end(), [&](const ArgSpec& arg) {
      if (!arg.is_buffer) {
        return true;
      }
      const auto shape = ShapeOf(task, arg, row.sizes);
      int64_t count = 1;
      for (const int64_t extent : shape ? *shape : std::vector<int64_t>{}) {
        count *= extent;
      }
      return shape.has_value() && count <= kMaxDerivedElements;
    });
    const bool is_new = std::none_of(rows.begin(), rows.end(),
                                     [&](const SizeRow& r) { return r.sizes == row.sizes; });
    if (is_small && is_new) {
      rows.push_back(std::move(row));
    }
  }
  if (rows.empty()) {
    rows.push_back(task.timed.front());
    rows.back().line = kMadeLine;
  }
  return rows;
}

Result<void> ValidateTask(const KernelTask& task, const std::string& file,
                          const std::map<std::string, int>& formula_lines) {
  const bool has_output = std::any_of(task.args.begin(), task.args.end(), [](const ArgSpec& arg) {
    return arg.is_buffer && (arg.role == ArgRole::kOut || arg.role == ArgRole::kInOut);
  });
  if (!has_output) {
    return At(file, "no argument with role = \"out\" or \"inout\": nothing would be checked");
  }
  for (const auto& [flag, rows] :
       {std::pair("--checked", &task.checked), std::pair("--timed", &task.timed)}) {
    for (const SizeRow& row : *rows) {
      Result<void> valid = ValidateRow(task, row, file, formula_lines);
      if (!valid && row.line == kFlagLine) {
        return std::move(valid).error().WithContext(WhereSaid(row, flag, file));
      }
      OPTIML_TRY(std::move(valid));
    }
  }
  return {};
}

Result<ContentHash> HashTask(const KernelTask& task) {
  ContentHasher hasher;
  const auto expression = [](const std::optional<SizeExpr>& e) { return e ? e->text() : "-"; };
  const auto number = [](const std::optional<double>& v) {
    return v ? fmt::format("{}", *v) : "-";
  };
  hasher.Add("task 1").Add(task.source.hash().Hex()).Add(task.allow_libraries ? "l" : "-");
  for (const ArgSpec& arg : task.args) {
    std::string shape;
    for (const SizeExpr& extent : arg.shape) {
      shape += extent.text() + ",";
    }
    hasher.Add(fmt::format("{} {} {} [{}] {} {} {} {}", arg.name, arg.is_buffer,
                           DTypeName(arg.dtype), shape, ArgRoleName(arg.role), number(arg.value),
                           arg.is_size, arg.allow_special));
    hasher.Add(fmt::format("{} {} {} {} {} {} {} {}", FillKindName(arg.fill.kind),
                           expression(arg.fill.min), expression(arg.fill.max),
                           number(arg.fill.min_value), number(arg.fill.max_value), arg.fill.value,
                           expression(arg.fill.total), arg.fill.declared));
  }
  for (const auto* rows : {&task.checked, &task.timed}) {
    hasher.Add(fmt::format("rows {}", rows->size()));
    for (const SizeRow& row : *rows) {
      hasher.Add(row.Text());
    }
  }
  hasher.Add(ReferenceKindName(task.reference.kind));
  if (task.reference.kind == ReferenceKind::kHost) {
    OPTIML_ASSIGN(const std::string text, ReadFile(task.reference.source));
    hasher.Add(text);
  }
  for (const auto& [name, path] : task.reference.recorded) {
    OPTIML_ASSIGN(const std::string bytes, ReadFile(path));
    hasher.Add(name).Add(ContentHash::Of(bytes).Hex());
  }
  const auto tolerance = [&](const Tolerance& t) {
    return fmt::format("{} {} {} {}", number(t.absolute), number(t.relative),
                       t.allow_reduced_precision, expression(t.reduction_length));
  };
  hasher.Add(tolerance(task.tolerance));
  for (const auto& [name, t] : task.tolerance.per_argument) {
    hasher.Add(name).Add(tolerance(t));
  }
  hasher.Add(expression(task.cost.bytes)).Add(expression(task.cost.operations));
  if (task.launch) {
    hasher.Add(task.launch->kernel).Add(task.launch->dynamic_shared_bytes.text());
    for (const auto* extents : {&task.launch->grid, &task.launch->block}) {
      hasher.Add(fmt::format("extents {}", extents->size()));
      for (const SizeExpr& extent : *extents) {
        hasher.Add(extent.text());
      }
    }
  }
  return hasher.Finish();
}

}  // namespace optiml
