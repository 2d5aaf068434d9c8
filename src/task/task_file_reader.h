#ifndef OPTIML_TASK_TASK_FILE_READER_H_
#define OPTIML_TASK_TASK_FILE_READER_H_

// TaskFileReader: the sections of one task.toml, read into a KernelTask. Private to
// task_file*.cpp; task_file.h is the interface.

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "task/task.h"
#include "task/toml_document.h"

namespace optiml {

// Reads one file; carries its name for the messages.
class TaskFileReader {
 public:
  TaskFileReader(std::string file_name, std::filesystem::path folder)
      : file_(std::move(file_name)), folder_(std::move(folder)) {}

  Result<KernelTask> Read(const TomlValue& document, const TaskOverrides& overrides);

 private:
  // Every message: "FILE:LINE: what".
  Error At(int line, const std::string& what) const;
  Result<void> CheckKeys(const TomlValue& table, std::string_view where,
                         std::span<const std::string_view> allowed) const;
  Result<void> Expect(const TomlEntry& entry, TomlValue::Kind kind) const;
  // The section as a table; an empty one when it is not there. No allowed keys: any key.
  Result<TomlValue> Section(const TomlValue& document, std::string_view name,
                            std::span<const std::string_view> allowed) const;
  Result<std::string> String(const TomlValue& table, std::string_view key,
                             std::string fallback) const;
  Result<std::optional<double>> Number(const TomlValue& table, std::string_view key) const;
  // A number or a string that is an expression of sizes.
  Result<SizeExpr> Expression(const TomlValue& value, std::string_view key) const;
  Result<std::optional<SizeExpr>> OptionalExpression(const TomlValue& table,
                                                     std::string_view key) const;
  Result<std::filesystem::path> ExistingFile(const TomlEntry& entry) const;
  Result<void> ReadTaskSection(const TomlValue& document, const TaskOverrides& overrides,
                               KernelTask& task) const;
  Result<std::vector<SizeRow>> ReadRows(const TomlValue& sizes, std::string_view key) const;
  Result<void> ReadSizes(const TomlValue& document, const TaskOverrides& overrides,
                         KernelTask& task) const;
  Result<ArgSpec> ReadArg(const TomlEntry& entry, const std::set<std::string>& size_names) const;
  Result<void> ReadFill(const TomlEntry& entry, ArgSpec& arg) const;
  Result<void> ReadArgs(const TomlValue& document, const TaskOverrides& overrides,
                        KernelTask& task) const;
  Result<void> ReadReference(const TomlValue& document, KernelTask& task) const;
  Result<void> ReadTolerance(const TomlValue& document, KernelTask& task) const;
  Result<void> ReadBounds(const TomlValue& table, Tolerance& tolerance) const;
  Result<void> ReadLaunch(const TomlValue& document, KernelTask& task) const;
  // Refuses what `optiml init` left open, wherever it stands. `key`: "sizes.timed.rows".
  Result<void> RefuseUnfilled(const TomlValue& value, const std::string& key) const;
  Result<void> ReadOrigin(const TomlValue& document, KernelTask& task) const;

  std::string file_;
  std::filesystem::path folder_;
};

}  // namespace optiml

#endif  // OPTIML_TASK_TASK_FILE_READER_H_
