// [reference], [tolerance], [launch] and [origin] of a task file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/file_system.h"
#include "task/launcher_scan.h"
#include "task/names.h"
#include "task/task_file.h"
#include "task/task_file_reader.h"

namespace optiml {
namespace {

using Kind = TomlValue::Kind;

constexpr std::array<std::string_view, 3> kReferenceKeys = {"kind", "source", "files"};
constexpr std::array<std::string_view, 5> kToleranceKeys = {
    "absolute", "relative", "allow_reduced_precision", "reduction_length", "args"};
constexpr std::array<std::string_view, 2> kArgToleranceKeys = {"absolute", "relative"};
constexpr std::array<std::string_view, 4> kLaunchKeys = {"kernel", "grid", "block",
                                                         "dynamic_shared_bytes"};

}  // namespace

Result<void> TaskFileReader::ReadReference(const TomlValue& document, KernelTask& task) const {
  OPTIML_ASSIGN(const TomlValue section, Section(document, "reference", kReferenceKeys));
  OPTIML_ASSIGN(const std::string kind, String(section, "kind", "original"));
  const TomlEntry* source = section.Find("source");
  const TomlEntry* files = section.Find("files");
  const TomlEntry* entry = document.Find("reference");
  const int line = entry != nullptr ? entry->line : 1;
  if (kind == "host") {
    task.reference.kind = ReferenceKind::kHost;
    if (source == nullptr) {
      return At(line, "kind = \"host\" needs source, a C++ file with the reference function");
    }
    OPTIML_ASSIGN(task.reference.source, ExistingFile(*source));
  } else if (kind == "original") {
    task.reference.kind = ReferenceKind::kOriginal;
  } else if (kind == "recorded") {
    task.reference.kind = ReferenceKind::kRecorded;
    if (files == nullptr) {
      return At(line, "kind = \"recorded\" needs files = { argument = \"file.npy\", ... }");
    }
    OPTIML_TRY(Expect(*files, Kind::kTable));
    for (const TomlEntry& file : files->value.entries) {
      const ArgSpec* arg = task.FindArg(file.key);
      if (arg == nullptr || !arg->is_buffer || arg->role == ArgRole::kWorkspace) {
        return At(file.line, fmt::format("\"{}\" is no input or output of the task", file.key));
      }
      OPTIML_ASSIGN(const auto path, ExistingFile(file));
      if (path.extension() != ".npy") {
        return At(file.line, fmt::format("\"{}\": recorded tensors are .npy files (NumPy's save "
                                         "makes them)",
                                         file.value.string));
      }
      task.reference.recorded[file.key] = path;
    }
    for (const ArgSpec& arg : task.args) {
      if (arg.is_buffer && arg.role != ArgRole::kWorkspace &&
          !task.reference.recorded.contains(arg.name)) {
        return At(files->line, fmt::format("no recorded file for argument \"{}\"", arg.name));
      }
      if (arg.is_buffer && arg.role == ArgRole::kInOut) {
        return At(files->line, fmt::format("{}: an inout argument has two contents, before and "
                                           "after; recorded references know in and out only",
                                           arg.name));
      }
      if (!arg.is_buffer && !arg.is_size && !arg.value) {
        return Error(
            ErrorCode::kInvalidArgument,
            fmt::format("{}: {}: a recorded reference needs a fixed value for every scalar",
                        WhereSaid(arg, file_), arg.name));
      }
    }
    if (task.checked.size() != 1) {
      return At(line, fmt::format("a recorded reference serves exactly one checked row, not {}",
                                  task.checked.size()));
    }
  } else {
    return At(section.Find("kind")->line,
              fmt::format("unknown reference kind \"{}\" (known: host, original, recorded)", kind));
  }
  if (source != nullptr && kind != "host") {
    return At(source->line, "\"source\" goes with kind = \"host\" only");
  }
  if (files != nullptr && kind != "recorded") {
    return At(files->line, "\"files\" goes with kind = \"recorded\" only");
  }
  return {};
}

Result<void> TaskFileReader::ReadBounds(const TomlValue& table, Tolerance& tolerance) const {
  OPTIML_ASSIGN(tolerance.absolute, Number(table, "absolute"));
  OPTIML_ASSIGN(tolerance.relative, Number(table, "relative"));
  for (const auto& [key, value] :
       {std::pair("absolute", tolerance.absolute), std::pair("relative", tolerance.relative)}) {
    if (value && !(*value >= 0 && std::isfinite(*value))) {
      return At(
          table.Find(key)->line,
          fmt::format("\"{}\" is {}, expected a finite number that is not negative", key, *value));
    }
  }
  if (tolerance.relative && *tolerance.relative >= 1) {
    return At(table.Find("relative")->line,
              fmt::format("\"relative\" is {}: from 1 on, zeros would pass as an answer",
                          *tolerance.relative));
  }
  return {};
}

Result<void> TaskFileReader::ReadTolerance(const TomlValue& document, KernelTask& task) const {
  OPTIML_ASSIGN(const TomlValue section, Section(document, "tolerance", kToleranceKeys));
  Tolerance& tolerance = task.tolerance;
  OPTIML_TRY(ReadBounds(section, tolerance));
  if (const TomlEntry* reduced = section.Find("allow_reduced_precision")) {
    OPTIML_TRY(Expect(*reduced, Kind::kBoolean));
    tolerance.allow_reduced_precision = reduced->value.boolean;
    // f16 and tf32 keep 11 bits: a relative bound below their roundoff takes the permission back.
    if (tolerance.allow_reduced_precision && tolerance.relative && !tolerance.absolute &&
        *tolerance.relative < UnitRoundoff(DType::kF16)) {
      return At(reduced->line, fmt::format("allow_reduced_precision contradicts relative = {}: "
                                           "half precision rounds by {:.2g}",
                                           *tolerance.relative, UnitRoundoff(DType::kF16)));
    }
  }
  OPTIML_ASSIGN(tolerance.reduction_length, OptionalExpression(section, "reduction_length"));
  const bool any_float_output = std::any_of(task.args.begin(), task.args.end(), [](const auto& a) {
    return a.is_buffer && a.role != ArgRole::kIn && a.role != ArgRole::kWorkspace &&
           IsFloat(a.dtype);
  });
  if ((tolerance.absolute || tolerance.relative) && !any_float_output) {
    return At(document.Find("tolerance")->line,
              "the task has no floating-point output: integers are compared exactly, without a "
              "tolerance");
  }
  const TomlEntry* args = section.Find("args");
  if (args == nullptr) {
    return {};
  }
  OPTIML_TRY(Expect(*args, Kind::kTable));
  for (const TomlEntry& entry : args->value.entries) {
    OPTIML_TRY(Expect(entry, Kind::kTable));
    OPTIML_TRY(CheckKeys(entry.value, "a tolerance", kArgToleranceKeys));
    const ArgSpec* arg = task.FindArg(entry.key);
    if (arg == nullptr || !arg->is_buffer || arg->role == ArgRole::kIn ||
        arg->role == ArgRole::kWorkspace) {
      return At(entry.line, fmt::format("\"{}\" is no output of the task: only outputs are "
                                        "compared",
                                        entry.key));
    }
    if (!IsFloat(arg->dtype)) {
      return At(entry.line, fmt::format("{}: {} is compared exactly, without a tolerance",
                                        entry.key, DTypeName(arg->dtype)));
    }
    OPTIML_TRY(ReadBounds(entry.value, tolerance.per_argument[entry.key]));
  }
  return {};
}

Result<void> TaskFileReader::ReadLaunch(const TomlValue& document, KernelTask& task) const {
  if (document.Find("launch") == nullptr) {
    return {};
  }
  OPTIML_ASSIGN(const TomlValue section, Section(document, "launch", kLaunchKeys));
  const int line = document.Find("launch")->line;
  LaunchSpec launch;
  OPTIML_ASSIGN(launch.kernel, String(section, "kernel", task.source.entry()));
  if (launch.kernel.empty()) {
    return At(line, "[launch] needs kernel, the name of the __global__ function");
  }
  for (auto [key, extents] : {std::pair("grid", &launch.grid), std::pair("block", &launch.block)}) {
    const TomlEntry* entry = section.Find(key);
    if (entry == nullptr) {
      return At(line, fmt::format("[launch] needs {}, 1 to 3 extents", key));
    }
    OPTIML_TRY(Expect(*entry, Kind::kArray));
    if (entry->value.items.empty() || entry->value.items.size() > 3) {
      return At(entry->line, fmt::format("\"{}\" has {} extents, expected 1 to 3", key,
                                         entry->value.items.size()));
    }
    for (const TomlValue& item : entry->value.items) {
      OPTIML_ASSIGN(SizeExpr expression, Expression(item, key));
      extents->push_back(std::move(expression));
    }
  }
  OPTIML_ASSIGN(const auto shared, OptionalExpression(section, "dynamic_shared_bytes"));
  launch.dynamic_shared_bytes = shared.value_or(SizeExpr(0));
  if (task.source.entry().empty()) {
    task.source = KernelSource(task.source.text(), launch.kernel, task.source.path());
  }
  task.launch = std::move(launch);
  return {};
}

Result<void> TaskFileReader::ReadOrigin(const TomlValue& document, KernelTask& task) const {
  OPTIML_ASSIGN(const TomlValue section, Section(document, "origin", {}));
  for (const TomlEntry& entry : section.entries) {
    OPTIML_TRY(Expect(entry, Kind::kString));
    task.origin[entry.key] = entry.value.string;
  }
  return {};
}

}  // namespace optiml
