#ifndef OPTIML_REWRITE_TEXTUAL_TEXT_EDITS_H_
#define OPTIML_REWRITE_TEXTUAL_TEXT_EDITS_H_

// Text edits: local changes of kernels that were not lifted: restrict qualifiers, launch bounds,
// unrolled loops, another block size. Each changes a few characters at places that the syntax tree
// names; places inside macros are left alone.

#include <optional>
#include <string>
#include <vector>

#include "core/edit.h"
#include "core/launch_plan.h"
#include "frontend/ast.h"
#include "rewrite/emit/emit.h"

namespace optiml::rewrite {

// A kernel that was not lifted, and how the root launches it.
struct TextKernel {
  int index = 0;
  const ast::SourceUnit* unit = nullptr;
  const ast::Function* function = nullptr;
  std::vector<Dim3> blocks;       // at each launch
  bool launched_by_task = false;  // the launch stands in the task, not in the file: it stays
  // Per pointer parameter (by position), the plan's buffer at each launch.
  std::vector<std::vector<int>> buffers;
};

TextKernel MakeTextKernel(int index, const ast::SourceUnit& unit, const ast::Function& function,
                          const std::vector<LaunchPlan>& plans);

// Edits that apply to the kernel, without the names of `taken` ones.
std::vector<Edit> ProposeTextEdits(const TextKernel& kernel, const std::vector<std::string>& taken);

// The replacements that make the edit, or the reason why it does not apply.
std::variant<std::vector<Replacement>, std::string> ApplyTextEdit(const TextKernel& kernel,
                                                                  const Edit& edit);

bool IsTextEdit(const std::string& name);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_TEXTUAL_TEXT_EDITS_H_
