#ifndef OPTIML_TASK_TASK_H_
#define OPTIML_TASK_TASK_H_

// Where KernelTasks come from: a folder with task.toml, or a lone .cu with sizes on the command
// line. Every message names file and line. docs/task_format.md is the user's description of the
// format.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"

namespace optiml {

// What the launcher's parameters say, as task/ needs it: the front end fills this in (layers of
// equal number do not know each other, so cli/ and optimize/ hand it over).
struct LauncherFact {
  std::string name;
  bool is_pointer = false;
  bool points_to_const = false;
  std::optional<DType> dtype;  // absent for void*, vectors ...
  int line = 0;
  // What the kernels do with a buffer, and its extents in the names of integer parameters, where
  // the syntax tree says so. A reader without one leaves them empty.
  std::optional<ArgRole> role;
  std::string role_reason;  // "read and written by the kernels"
  std::vector<std::string> shape;
};

// What the command line may say of a lone .cu (and may override of a task).
struct TaskOverrides {
  std::string entry;                          // empty: the only launcher of the file, or the task's
  std::vector<SizeBindings> checked;          // "--checked rows=33,cols=100"
  std::vector<SizeBindings> timed;            // "--timed rows=4096,cols=4096"
  std::map<std::string, std::string> shapes;  // "--arg x=f32[rows,cols]:in:normal"
  // Of a lone .cu: what the front end says of its launcher; empty: what a reader of tokens sees.
  std::vector<LauncherFact> launcher;
};

// `path`: a folder with task.toml, a task.toml, or a .cu.
Result<KernelTask> LoadTask(const std::filesystem::path& path, const TaskOverrides& overrides = {});

// Compares a task's arguments with the launcher's parameters: count, order, names, pointer or
// scalar, dtypes where both say one. The message names both places.
Result<void> CheckArguments(const KernelTask& task, const std::vector<LauncherFact>& launcher);

// A task for a lone .cu: what could be inferred from the launcher and the overrides, and what could
// not.
inline constexpr char kFillIn[] = "FILL IN: ";
struct InferredTask {
  // The task.toml. What must be filled in is a string that begins with kFillIn and says what is
  // allowed; no such file loads.
  std::string toml;
  std::vector<std::string> missing;  // sentences: "y: no shape: say which sizes it has"
};
Result<InferredTask> InferTask(const std::filesystem::path& source, const std::string& source_text,
                               const std::string& entry, const std::vector<LauncherFact>& launcher,
                               const TaskOverrides& overrides);

// Other kernels for the same task, to start from as well: samples/*.cu beside task.toml, by name,
// with the task's entry. None where there is no such folder; fails (kIo) on a file that cannot be
// read.
Result<std::vector<KernelSource>> LoadSamples(const KernelTask& task);

}  // namespace optiml

#endif  // OPTIML_TASK_TASK_H_
