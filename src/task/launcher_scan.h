#ifndef OPTIML_TASK_LAUNCHER_SCAN_H_
#define OPTIML_TASK_LAUNCHER_SCAN_H_

// What a .cu says of its launcher to a reader that has no CUDA parser: the host functions that it
// defines, found by their tokens. Enough to load a lone .cu and to infer an entry; the front end
// reads the file properly afterwards and CheckArguments compares.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"
#include "task/task.h"

namespace optiml {

struct ScannedLauncher {
  std::string entry;
  int line = 0;
  std::vector<LauncherFact> parameters;
};

// The host function `entry`. When `entry` is empty: the only one with C linkage, else the only one
// that launches kernels, itself or through others, and that no other such function calls (main and
// templates do not count). Fails when there is none or several, naming them.
Result<ScannedLauncher> ScanLauncher(std::string_view text, const std::string& file_name,
                                     const std::string& entry);

// Line of the first `name(` outside of comments, strings and preprocessor lines: where a C++ text
// declares, defines or calls the function first. Absent when the text does not name it.
std::optional<int> FunctionLine(std::string_view text, std::string_view name);

// What `// optiml: ...` comments of a lone .cu say:
//   // optiml: rows=8192 cols=8192                (a timed row; "timed" may be written before it)
//   // optiml: checked rows=33 cols=100
//   // optiml: arg x=f32[rows,cols]:in:normal
//   // optiml: intent row-wise softmax
//   // optiml: entry softmax
//   // optiml: reference reference.cpp
struct SourceComments {
  std::vector<SizeRow> timed;
  std::vector<SizeRow> checked;
  std::map<std::string, std::string> args;  // name -> text, as TaskOverrides::shapes
  std::string intent;
  std::string entry;
  std::string reference;
};
// Fails on a comment that is none of them, with file and line.
Result<SourceComments> ReadComments(std::string_view text, const std::string& file_name);

// "rows=33,cols=100" or "rows=33 cols=100". Fails on anything but names with whole numbers.
Result<SizeBindings> ParseSizes(std::string_view text);

}  // namespace optiml

#endif  // OPTIML_TASK_LAUNCHER_SCAN_H_
