#include "task/task_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/file_system.h"
#include "task/launcher_scan.h"
#include "task/names.h"
#include "task/task_file_reader.h"

namespace optiml {
namespace {

using Kind = TomlValue::Kind;

constexpr std::array<std::string_view, 8> kTopKeys = {"task",      "sizes", "args",   "reference",
                                                      "tolerance", "cost",  "launch", "origin"};
constexpr std::array<std::string_view, 5> kTaskKeys = {"name", "source", "entry", "intent",
                                                       "allow_libraries"};
constexpr std::array<std::string_view, 2> kSizesKeys = {"timed", "checked"};
constexpr std::array<std::string_view, 9> kArgKeys = {
    "dtype", "shape", "role", "fill", "min", "max", "value", "total", "allow_special"};
constexpr std::array<std::string_view, 2> kCostKeys = {"bytes", "operations"};

}  // namespace

Error TaskFileReader::At(int line, const std::string& what) const {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", file_, line, what));
}

Result<void> TaskFileReader::CheckKeys(const TomlValue& table, std::string_view where,
                                       std::span<const std::string_view> allowed) const {
  for (const TomlEntry& entry : table.entries) {
    if (std::find(allowed.begin(), allowed.end(), entry.key) == allowed.end()) {
      return At(entry.line, fmt::format("unknown key \"{}\" in {} (allowed: {})", entry.key, where,
                                        fmt::join(allowed, ", ")));
    }
  }
  return {};
}

Result<void> TaskFileReader::Expect(const TomlEntry& entry, Kind kind) const {
  if (entry.value.kind != kind) {
    return At(entry.line, fmt::format("\"{}\" is {}, expected {}", entry.key,
                                      TomlKindName(entry.value.kind), TomlKindName(kind)));
  }
  return {};
}

Result<TomlValue> TaskFileReader::Section(const TomlValue& document, std::string_view name,
                                          std::span<const std::string_view> allowed) const {
  const TomlEntry* entry = document.Find(name);
  if (entry == nullptr) {
    return TomlValue();
  }
  OPTIML_TRY(Expect(*entry, Kind::kTable));
  if (!allowed.empty()) {
    OPTIML_TRY(CheckKeys(entry->value, fmt::format("[{}]", name), allowed));
  }
  return entry->value;
}

Result<std::string> TaskFileReader::String(const TomlValue& table, std::string_view key,
                                           std::string fallback) const {
  const TomlEntry* entry = table.Find(key);
  if (entry == nullptr) {
    return fallback;
  }
  OPTIML_TRY(Expect(*entry, Kind::kString));
  return entry->value.string;
}

Result<std::optional<double>> TaskFileReader::Number(const TomlValue& table,
                                                     std::string_view key) const {
  const TomlEntry* entry = table.Find(key);
  if (entry == nullptr) {
    return std::optional<double>();
  }
  if (entry->value.kind != Kind::kFloat && entry->value.kind != Kind::kInteger) {
    return At(entry->line,
              fmt::format("\"{}\" is {}, expected a number", key, TomlKindName(entry->value.kind)));
  }
  return std::optional<double>(entry->value.number);
}

Result<SizeExpr> TaskFileReader::Expression(const TomlValue& value, std::string_view key) const {
  if (value.kind == Kind::kInteger) {
    return SizeExpr(value.integer);
  }
  if (value.kind != Kind::kString) {
    return At(value.line, fmt::format("\"{}\" is {}, expected an integer or an expression of sizes",
                                      key, TomlKindName(value.kind)));
  }
  Result<SizeExpr> expression = SizeExpr::Parse(value.string);
  if (!expression) {
    return At(value.line, fmt::format("\"{}\": {}", key, expression.error().message()));
  }
  return expression;
}

Result<std::optional<SizeExpr>> TaskFileReader::OptionalExpression(const TomlValue& table,
                                                                   std::string_view key) const {
  const TomlEntry* entry = table.Find(key);
  if (entry == nullptr) {
    return std::optional<SizeExpr>();
  }
  OPTIML_ASSIGN(SizeExpr expression, Expression(entry->value, key));
  return std::optional<SizeExpr>(std::move(expression));
}

Result<std::filesystem::path> TaskFileReader::ExistingFile(const TomlEntry& entry) const {
  OPTIML_TRY(Expect(entry, Kind::kString));
  const std::filesystem::path path = folder_ / entry.value.string;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{}:{}: \"{}\": no such file in {}", file_, entry.line,
                             entry.value.string, folder_.string()));
  }
  return std::filesystem::absolute(path).lexically_normal();
}

namespace {

// Whether the text may define the name: as a word, or by pasting tokens together.
bool Occurs(const std::string& text, const std::string& name) {
  const auto is_word = [&](size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    if ((at == 0 || !is_word(at - 1)) && !is_word(at + name.size())) {
      return true;
    }
  }
  return text.find("##") != std::string::npos;
}

}  // namespace

Result<void> TaskFileReader::ReadTaskSection(const TomlValue& document,
                                             const TaskOverrides& overrides,
                                             KernelTask& task) const {
  OPTIML_ASSIGN(const TomlValue section, Section(document, "task", kTaskKeys));
  OPTIML_ASSIGN(task.name, String(section, "name", folder_.filename().string()));
  OPTIML_ASSIGN(task.intent, String(section, "intent", ""));
  if (const TomlEntry* entry = section.Find("allow_libraries")) {
    OPTIML_TRY(Expect(*entry, Kind::kBoolean));
    task.allow_libraries = entry->value.boolean;
  }
  TomlEntry source{"source", 1, {}};
  if (const TomlEntry* entry = section.Find("source")) {
    source = *entry;
  } else {
    source.value.kind = Kind::kString;
    source.value.string = "kernel.cu";
  }
  OPTIML_ASSIGN(const auto source_path, ExistingFile(source));
  OPTIML_ASSIGN(const std::string text, ReadFile(source_path));
  std::string entry = overrides.entry;
  if (entry.empty()) {
    OPTIML_ASSIGN(entry, String(section, "entry", ""));
  }
  const bool has_launch = document.Find("launch") != nullptr;
  if (entry.empty() && !has_launch) {
    Result<ScannedLauncher> launcher = ScanLauncher(text, source.value.string, "");
    if (!launcher) {
      return std::move(launcher).error().WithContext(
          fmt::format("{}: no \"entry\" in [task] and none can be inferred", file_));
    }
    entry = launcher->entry;
  }
  const TomlEntry* said = section.Find("entry");
  if (!entry.empty() && !has_launch && !Occurs(text, entry)) {
    const Result<ScannedLauncher> only = ScanLauncher(text, source.value.string, "");
    const std::string what = fmt::format(
        "\"{}\": {} has no host function of that name{}", entry, source.value.string,
        only ? fmt::format(" (its launcher is \"{}\", line {})", only->entry, only->line) : "");
    return overrides.entry.empty() && said != nullptr
               ? Result<void>(At(said->line, "entry " + what))
               : Result<void>(Error(ErrorCode::kInvalidArgument, "--entry " + what));
  }
  task.source = KernelSource(text, entry, source.value.string);
  return {};
}

Result<std::vector<SizeRow>> TaskFileReader::ReadRows(const TomlValue& sizes,
                                                      std::string_view key) const {
  std::vector<SizeRow> rows;
  const TomlEntry* entry = sizes.Find(key);
  if (entry == nullptr) {
    return rows;
  }
  OPTIML_TRY(Expect(*entry, Kind::kArray));
  if (entry->value.items.empty()) {
    return At(entry->line, fmt::format("\"{}\" has no rows, at least one is needed", key));
  }
  for (const TomlValue& item : entry->value.items) {
    if (item.kind != Kind::kTable) {
      return At(item.line, fmt::format("a row of \"{}\" is {}, expected {{ name = number, ... }}",
                                       key, TomlKindName(item.kind)));
    }
    SizeRow row;
    row.line = item.line;
    for (const TomlEntry& size : item.entries) {
      if (!IsIdentifier(size.key)) {
        return At(size.line, fmt::format("size name \"{}\" is no identifier", size.key));
      }
      if (size.value.kind != Kind::kInteger) {
        return At(size.line, fmt::format("size \"{}\" is {}, expected an integer", size.key,
                                         TomlKindName(size.value.kind)));
      }
      if (size.value.integer < 0) {
        return At(size.line, fmt::format("size \"{}\" is {}, sizes are not negative", size.key,
                                         size.value.integer));
      }
      row.sizes[size.key] = size.value.integer;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

std::set<std::string> NamesOf(const SizeBindings& sizes) {
  std::set<std::string> names;
  for (const auto& [name, value] : sizes) {
    names.insert(name);
  }
  return names;
}

std::vector<SizeRow> RowsFromFlags(const std::vector<SizeBindings>& bindings) {
  std::vector<SizeRow> rows;
  for (const SizeBindings& sizes : bindings) {
    rows.push_back({sizes, kFlagLine});
  }
  return rows;
}

}  // namespace

Result<void> TaskFileReader::ReadSizes(const TomlValue& document, const TaskOverrides& overrides,
                                       KernelTask& task) const {
  OPTIML_ASSIGN(const TomlValue section, Section(document, "sizes", kSizesKeys));
  OPTIML_ASSIGN(const std::vector<SizeRow> own_timed, ReadRows(section, "timed"));
  task.timed = own_timed;
  OPTIML_ASSIGN(task.checked, ReadRows(section, "checked"));
  if (!overrides.timed.empty()) {
    task.timed = RowsFromFlags(overrides.timed);
  }
  if (!overrides.checked.empty()) {
    task.checked = RowsFromFlags(overrides.checked);
  }
  if (task.timed.empty() && !task.checked.empty()) {
    const TomlEntry* entry = document.Find("sizes");
    return At(entry != nullptr ? entry->line : 1,
              "no timed sizes: add timed = [ { ... } ] to [sizes], the sizes that must be fast");
  }
  if (task.timed.empty()) {
    task.timed.push_back({{}, kMadeLine});  // a task whose shapes are all numbers
  }
  // The file's own names, if it has any: a flag that names others is what is wrong.
  const std::set<std::string> names =
      NamesOf(own_timed.empty() ? task.timed.front().sizes : own_timed.front().sizes);
  for (const auto& [flag, rows] :
       {std::pair("--timed", &task.timed), std::pair("--checked", &task.checked)}) {
    for (const SizeRow& row : *rows) {
      if (NamesOf(row.sizes) != names) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{}: the row \"{}\" does not name the sizes of the first timed "
                                 "row (those are: {})",
                                 WhereSaid(row, flag, file_), row.Text(), fmt::join(names, ", ")));
      }
    }
  }
  return {};
}

Result<void> TaskFileReader::ReadFill(const TomlEntry& entry, ArgSpec& arg) const {
  const TomlValue& table = entry.value;
  const TomlEntry* kind = table.Find("fill");
  Fill& fill = arg.fill;
  fill.kind = IsFloat(arg.dtype) ? FillKind::kNormal : FillKind::kRandInt;
  if (kind != nullptr) {
    OPTIML_TRY(Expect(*kind, Kind::kString));
    Result<FillKind> parsed = ParseFillKind(kind->value.string);
    if (!parsed) {
      return At(kind->line, parsed.error().message());
    }
    fill.kind = *parsed;
    fill.declared = true;
  }
  const bool ranged =
      fill.declared && (fill.kind == FillKind::kUniform || fill.kind == FillKind::kRandInt ||
                        fill.kind == FillKind::kSorted);
  for (const std::string_view key : {"min", "max"}) {
    const TomlEntry* bound = table.Find(key);
    if (bound == nullptr) {
      continue;
    }
    if (!ranged) {
      return At(bound->line, fmt::format("\"{}\" goes with fill = \"uniform\", \"randint\" or "
                                         "\"sorted\" only",
                                         key));
    }
    const bool is_min = key == "min";
    if (bound->value.kind == Kind::kFloat) {
      if (fill.kind == FillKind::kRandInt || !std::isfinite(bound->value.number)) {
        return At(bound->line, fmt::format("\"{}\" must be {}", key,
                                           fill.kind == FillKind::kRandInt ? "a whole number"
                                                                           : "a finite number"));
      }
      (is_min ? fill.min_value : fill.max_value) = bound->value.number;
    } else {
      OPTIML_ASSIGN((is_min ? fill.min : fill.max), OptionalExpression(table, key));
    }
  }
  if (const TomlEntry* total = table.Find("total")) {
    if (fill.kind != FillKind::kOffsets) {
      return At(total->line, "\"total\" goes with fill = \"offsets\" only");
    }
    OPTIML_ASSIGN(fill.total, OptionalExpression(table, "total"));
  } else if (fill.kind == FillKind::kOffsets) {
    return At(kind->line,
              fmt::format("{}: fill = \"offsets\" needs total, the last offset", entry.key));
  }
  OPTIML_ASSIGN(const auto value, Number(table, "value"));
  if (value && arg.is_buffer) {
    if (fill.kind != FillKind::kConstant) {
      return At(
          table.Find("value")->line,
          fmt::format("{}: \"value\" of a buffer goes with fill = \"constant\" only", entry.key));
    }
    fill.value = *value;
  } else if (value) {
    if (kind != nullptr) {
      return At(table.Find("value")->line,
                fmt::format("{}: a scalar has a value or a fill, not both", entry.key));
    }
    arg.value = *value;
  } else if (fill.kind == FillKind::kConstant) {
    return At(kind->line, fmt::format("{}: fill = \"constant\" needs a value", entry.key));
  }
  return {};
}

Result<ArgSpec> TaskFileReader::ReadArg(const TomlEntry& entry,
                                        const std::set<std::string>& size_names) const {
  OPTIML_TRY(Expect(entry, Kind::kTable));
  const TomlValue& table = entry.value;
  OPTIML_TRY(CheckKeys(table, fmt::format("argument \"{}\"", entry.key), kArgKeys));
  ArgSpec arg;
  arg.name = entry.key;
  arg.line = entry.line;
  if (!IsIdentifier(arg.name)) {
    return At(entry.line, fmt::format("argument name \"{}\" is no identifier", arg.name));
  }
  const TomlEntry* dtype = table.Find("dtype");
  if (dtype != nullptr) {
    OPTIML_TRY(Expect(*dtype, Kind::kString));
    const Result<DType> parsed = ParseDType(dtype->value.string);
    if (!parsed) {
      return At(dtype->line, parsed.error().message());
    }
    arg.dtype = *parsed;
  }
  const TomlEntry* shape = table.Find("shape");
  const TomlEntry* role = table.Find("role");
  arg.is_buffer = shape != nullptr;
  if (role != nullptr) {
    OPTIML_TRY(Expect(*role, Kind::kString));
    const Result<ArgRole> parsed = ParseArgRole(role->value.string);
    if (!parsed) {
      return At(role->line, parsed.error().message());
    }
    arg.role = *parsed;
    if (!arg.is_buffer) {
      return At(entry.line, fmt::format("{}: role = \"{}\" but no shape: say which sizes it has, "
                                        "for example shape = [\"n\"]",
                                        arg.name, role->value.string));
    }
  }
  if (arg.is_buffer) {
    OPTIML_TRY(Expect(*shape, Kind::kArray));
    if (dtype == nullptr) {
      return At(entry.line, fmt::format("{}: a buffer needs a dtype", arg.name));
    }
    for (const TomlValue& extent : shape->value.items) {
      OPTIML_ASSIGN(SizeExpr expression, Expression(extent, "shape"));
      arg.shape.push_back(std::move(expression));
    }
    if (size_names.contains(arg.name)) {
      return At(entry.line, fmt::format("\"{}\" is both a buffer and a size", arg.name));
    }
  }
  if (const TomlEntry* special = table.Find("allow_special")) {
    OPTIML_TRY(Expect(*special, Kind::kBoolean));
    arg.allow_special = special->value.boolean;
  }
  OPTIML_TRY(ReadFill(entry, arg));
  const bool filled = arg.role == ArgRole::kIn || arg.role == ArgRole::kInOut;
  if (arg.fill.declared && !filled) {
    return At(table.Find("fill")->line,
              fmt::format("{}: an argument with role = \"{}\" has no fill", arg.name,
                          role->value.string));
  }
  if (arg.fill.kind == FillKind::kSpecial && !arg.allow_special) {
    return At(table.Find("fill")->line,
              fmt::format("{}: fill = \"special\" needs allow_special = true", arg.name));
  }
  if (!arg.is_buffer && !arg.value && !arg.fill.declared) {
    if (!size_names.contains(arg.name)) {
      return At(entry.line,
                fmt::format("{}: neither a size nor a shape, a value or a fill: a buffer needs "
                            "dtype and shape, a scalar dtype and value or fill (sizes: {})",
                            arg.name, fmt::join(size_names, ", ")));
    }
    if (IsFloat(arg.dtype)) {
      return At(entry.line,
                fmt::format("{}: a size is an integer, not {}", arg.name, DTypeName(arg.dtype)));
    }
    arg.is_size = true;
  } else if (!arg.is_buffer && dtype == nullptr) {
    return At(entry.line,
              fmt::format("{}: a scalar with a value or a fill needs a dtype", arg.name));
  }
  return arg;
}

namespace {

// The rules between one argument and the rest of the task that [args] keeps, for `--arg`.
Result<ArgSpec> ReadArgFlag(const std::string& name, const std::string& text,
                            const std::set<std::string>& size_names) {
  OPTIML_ASSIGN(ArgSpec arg, ParseArgText(name, text, "--arg"));
  const auto fail = [&](const std::string& what) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("--arg {}={}: {}", name, text, what));
  };
  if (arg.is_buffer && size_names.contains(name)) {
    return fail("this is a size, and a buffer cannot be one");
  }
  if (arg.is_size && !size_names.contains(name)) {
    return fail(fmt::format("no such size (sizes: {})", fmt::join(size_names, ", ")));
  }
  if (arg.fill.kind == FillKind::kSpecial && arg.fill.declared) {
    return fail("fill special needs allow_special = true, which only a task.toml can say");
  }
  arg.line = kFlagLine;
  return arg;
}

}  // namespace

Result<void> TaskFileReader::ReadArgs(const TomlValue& document, const TaskOverrides& overrides,
                                      KernelTask& task) const {
  OPTIML_ASSIGN(const TomlValue section, Section(document, "args", {}));
  const std::set<std::string> size_names = NamesOf(task.timed.front().sizes);
  for (const TomlEntry& entry : section.entries) {
    const auto flag = overrides.shapes.find(entry.key);
    if (flag != overrides.shapes.end()) {
      OPTIML_ASSIGN(ArgSpec arg, ReadArgFlag(flag->first, flag->second, size_names));
      task.args.push_back(std::move(arg));
      continue;
    }
    OPTIML_ASSIGN(ArgSpec arg, ReadArg(entry, size_names));
    task.args.push_back(std::move(arg));
  }
  for (const auto& [name, text] : overrides.shapes) {
    if (task.FindArg(name) == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("--arg {}: {} has no such argument", name, file_));
    }
  }
  if (task.args.empty()) {
    return At(1, "no arguments: list the launcher's parameters, in order, in [args]");
  }
  return {};
}

Result<void> TaskFileReader::RefuseUnfilled(const TomlValue& value, const std::string& key) const {
  if (value.kind == Kind::kString && value.string.starts_with(kFillIn)) {
    return At(value.line, fmt::format("{} is not filled in yet: {}", key,
                                      value.string.substr(std::string_view(kFillIn).size())));
  }
  for (const TomlValue& item : value.items) {
    OPTIML_TRY(RefuseUnfilled(item, key));
  }
  for (const TomlEntry& entry : value.entries) {
    OPTIML_TRY(RefuseUnfilled(entry.value, key.empty() ? entry.key : key + "." + entry.key));
  }
  return {};
}

Result<KernelTask> TaskFileReader::Read(const TomlValue& document, const TaskOverrides& overrides) {
  OPTIML_TRY(CheckKeys(document, "the file", kTopKeys));
  OPTIML_TRY(RefuseUnfilled(document, ""));
  KernelTask task;
  task.folder = std::filesystem::absolute(folder_).lexically_normal();
  OPTIML_TRY(ReadTaskSection(document, overrides, task));
  OPTIML_TRY(ReadSizes(document, overrides, task));
  OPTIML_TRY(ReadArgs(document, overrides, task));
  OPTIML_TRY(ReadReference(document, task));
  OPTIML_TRY(ReadTolerance(document, task));
  OPTIML_ASSIGN(const TomlValue cost, Section(document, "cost", kCostKeys));
  OPTIML_ASSIGN(task.cost.bytes, OptionalExpression(cost, "bytes"));
  OPTIML_ASSIGN(task.cost.operations, OptionalExpression(cost, "operations"));
  OPTIML_TRY(ReadLaunch(document, task));
  OPTIML_TRY(ReadOrigin(document, task));
  return task;
}

namespace {

std::map<std::string, int> FormulaLines(const TomlValue& document) {
  std::map<std::string, int> lines;
  for (const char* section : {"cost", "tolerance", "launch"}) {
    const TomlEntry* table = document.Find(section);
    if (table == nullptr) {
      continue;
    }
    for (const TomlEntry& entry : table->value.entries) {
      lines[std::string(section) + "." + entry.key] = entry.value.line;
    }
  }
  return lines;
}

}  // namespace

Result<KernelTask> ParseTaskFile(const std::string& text, const std::string& file_name,
                                 const std::filesystem::path& folder,
                                 const TaskOverrides& overrides) {
  OPTIML_ASSIGN(const TomlValue document, ParseToml(text, file_name));
  OPTIML_ASSIGN(KernelTask task, TaskFileReader(file_name, folder).Read(document, overrides));
  if (task.checked.empty()) {
    task.checked = DeriveCheckedRows(task);
  }
  OPTIML_TRY(ValidateTask(task, file_name, FormulaLines(document)));
  OPTIML_ASSIGN(task.hash, HashTask(task));
  return task;
}

}  // namespace optiml
