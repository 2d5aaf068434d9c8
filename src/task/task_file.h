#ifndef OPTIML_TASK_TASK_FILE_H_
#define OPTIML_TASK_TASK_FILE_H_

// task.toml -> KernelTask, and the rules that every task keeps wherever it came from.
// docs/task_format.md describes the format; the allowed keys are the arrays in task_file.cpp.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/kernel_task.h"
#include "task/task.h"

namespace optiml {

// Reads the text of a task file. Relative paths in it start at `folder`, which also holds the
// source. `file_name` is what messages call the file. The result is validated and hashed. Fails
// with kParse or kInvalidArgument, "FILE:LINE: what", and with kNotFound for a file it names.
Result<KernelTask> ParseTaskFile(const std::string& text, const std::string& file_name,
                                 const std::filesystem::path& folder,
                                 const TaskOverrides& overrides);

// The rules between the parts of a task: every extent, fill range and formula can be computed on
// every row of sizes, sizes fit the arguments that carry them, tolerances do not contradict.
// `formula_lines`: where "cost.bytes", "launch.grid" ... stand in the file.
Result<void> ValidateTask(const KernelTask& task, const std::string& file_name,
                          const std::map<std::string, int>& formula_lines = {});

// Over everything that changes what is computed, checked or timed; not over names of files, the
// intent or the origin.
Result<ContentHash> HashTask(const KernelTask& task);

// Rows for the checks, made from the timed ones: all ones, then odd and prime extents that no tile
// divides, none above the timed size of the same name. Rows with a buffer of over 65,536 elements
// are left out, so that a check stays cheap.
std::vector<SizeRow> DeriveCheckedRows(const KernelTask& task);

// Where a row or an argument was said: "task.toml:7", or the flag that gave it: "--checked n=5",
// "--arg x"; the file alone for rows that were made (kMadeLine). `flag` is that of the row's list.
inline constexpr int kFlagLine = 0;   // of rows and arguments that a flag gave
inline constexpr int kMadeLine = -1;  // of rows that nobody wrote down
std::string WhereSaid(const SizeRow& row, std::string_view flag, const std::string& file_name);
std::string WhereSaid(const ArgSpec& arg, const std::string& file_name);

// One argument as the command line and `// optiml: arg` comments write it:
//   x=f32[rows,cols]:in:normal   y=f32[rows,cols]:out   eps=f32=1e-5   alpha=f32:uniform rows=size
// `what` is what messages begin with: "argument", "--arg".
Result<ArgSpec> ParseArgText(const std::string& name, const std::string& text,
                             std::string_view what = "argument");

}  // namespace optiml

#endif  // OPTIML_TASK_TASK_FILE_H_
