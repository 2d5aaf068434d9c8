#include "task/task.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file_system.h"
#include "task/launcher_scan.h"
#include "task/names.h"
#include "task/task_file.h"

namespace optiml {
namespace {

constexpr char kTaskFileName[] = "task.toml";

// What can be said of roles without a syntax tree.
std::vector<LauncherFact> RolesFromConst(std::vector<LauncherFact> launcher) {
  for (LauncherFact& fact : launcher) {
    if (fact.is_pointer) {
      fact.role = fact.points_to_const ? ArgRole::kIn : ArgRole::kOut;
      fact.role_reason = fact.points_to_const ? "" : "role assumed: not const";
    }
  }
  return launcher;
}

// A lone .cu: its launcher and its comments give a task file, which is then read like any other.
Result<KernelTask> LoadLoneSource(const std::filesystem::path& path,
                                  const TaskOverrides& overrides) {
  const std::string file_name = path.filename().string();
  OPTIML_ASSIGN(const std::string text, ReadFile(path));
  std::string entry = overrides.entry;
  if (entry.empty()) {
    OPTIML_ASSIGN(const SourceComments comments, ReadComments(text, file_name));
    entry = comments.entry;
  }
  Result<ScannedLauncher> scanned = ScanLauncher(text, file_name, entry);
  if (!scanned && !overrides.entry.empty()) {
    return std::move(scanned).error().WithContext("--entry " + overrides.entry);
  }
  OPTIML_ASSIGN(const ScannedLauncher launcher, std::move(scanned));
  OPTIML_ASSIGN(const InferredTask inferred,
                InferTask(path, text, launcher.entry,
                          overrides.launcher.empty() ? RolesFromConst(launcher.parameters)
                                                     : overrides.launcher,
                          overrides));
  if (!inferred.missing.empty()) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}:{}: {} cannot be made a task without more facts: {}; say them "
                    "with flags or comments, or write a task.toml with optiml init",
                    file_name, launcher.line, launcher.entry, fmt::join(inferred.missing, "; ")));
  }
  // Once more, so that messages about what the flags gave name the flags.
  TaskOverrides flags;
  flags.timed = overrides.timed;
  flags.checked = overrides.checked;
  flags.shapes = overrides.shapes;
  return ParseTaskFile(inferred.toml, file_name + " (inferred task)",
                       path.has_parent_path() ? path.parent_path() : std::filesystem::path("."),
                       flags);
}

std::string_view KindOf(bool is_pointer) {
  return is_pointer ? "a pointer" : "a scalar";
}

}  // namespace

Result<KernelTask> LoadTask(const std::filesystem::path& path, const TaskOverrides& overrides) {
  std::error_code ignored;
  std::filesystem::path file = std::filesystem::absolute(path).lexically_normal();
  if (!std::filesystem::exists(file, ignored)) {
    return Error(ErrorCode::kNotFound, path.string() + ": no such file or folder");
  }
  if (std::filesystem::is_directory(file, ignored)) {
    if (!file.has_filename()) {
      file = file.parent_path();
    }
    file /= kTaskFileName;
    if (!std::filesystem::exists(file, ignored)) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("{}: no {} in this folder (optiml init FILE.cu writes one)",
                               path.string(), kTaskFileName));
    }
  }
  if (file.extension() == ".cu") {
    return LoadLoneSource(file, overrides);
  }
  if (file.extension() != ".toml") {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: expected a folder with {}, a {} or a .cu file", path.string(),
                             kTaskFileName, kTaskFileName));
  }
  OPTIML_ASSIGN(const std::string text, ReadFile(file));
  return ParseTaskFile(text, file.filename().string(), file.parent_path(), overrides);
}

Result<void> CheckArguments(const KernelTask& task, const std::vector<LauncherFact>& launcher) {
  const std::string source = task.source.path();
  const auto fail = [&](const ArgSpec& arg, const LauncherFact& fact, const std::string& what) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: {} ({}:{})", WhereSaid(arg, "task.toml"), what, source, fact.line));
  };
  const size_t common = std::min(task.args.size(), launcher.size());
  for (size_t i = 0; i < common; ++i) {
    const ArgSpec& arg = task.args[i];
    const LauncherFact& fact = launcher[i];
    if (!fact.name.empty() && arg.name != fact.name) {
      return fail(arg, fact,
                  fmt::format("argument {} is \"{}\", but parameter {} of {} is \"{}\"", i + 1,
                              arg.name, i + 1, task.source.entry(), fact.name));
    }
    if (arg.is_buffer != fact.is_pointer) {
      return fail(arg, fact,
                  fmt::format("{} is {} in the task, but {} in {}", arg.name, KindOf(arg.is_buffer),
                              KindOf(fact.is_pointer), task.source.entry()));
    }
    if (arg.is_buffer && fact.points_to_const &&
        (arg.role == ArgRole::kOut || arg.role == ArgRole::kInOut)) {
      return fail(arg, fact,
                  fmt::format("{} has role = \"{}\", but points to const in {}", arg.name,
                              ArgRoleName(arg.role), task.source.entry()));
    }
    if (!fact.dtype || *fact.dtype == arg.dtype) {
      continue;
    }
    // Scalars are converted as a call converts them; only a change between integer and floating
    // point is a mistake. What a size holds is checked against the rows.
    const bool same_kind = IsFloat(*fact.dtype) == IsFloat(arg.dtype);
    if (arg.is_buffer || !same_kind) {
      return fail(arg, fact,
                  fmt::format("{} is {} in the task, but {} in {}", arg.name, DTypeName(arg.dtype),
                              DTypeName(*fact.dtype), task.source.entry()));
    }
  }
  if (task.args.size() != launcher.size()) {
    const bool too_few = task.args.size() < launcher.size();
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: {} arguments in [args], but {} has {} parameters ({}: "
                    "\"{}\")",
                    task.args.empty() ? "task.toml" : WhereSaid(task.args.back(), "task.toml"),
                    task.args.size(), task.source.entry(), launcher.size(),
                    too_few ? "missing" : "too much",
                    too_few ? launcher[common].name : task.args[common].name));
  }
  return {};
}

Result<std::vector<KernelSource>> LoadSamples(const KernelTask& task) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  if (!std::filesystem::is_regular_file(task.folder / "task.toml", none)) {
    return std::vector<KernelSource>();  // a lone .cu may lie among anything
  }
  for (const auto& entry : std::filesystem::directory_iterator(task.folder / "samples", none)) {
    if (entry.path().extension() == ".cu") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<KernelSource> samples;
  for (const std::filesystem::path& file : files) {
    OPTIML_ASSIGN(std::string text, ReadFile(file));
    samples.emplace_back(std::move(text), task.source.entry(),
                         "samples/" + file.filename().string());
  }
  return samples;
}

}  // namespace optiml
