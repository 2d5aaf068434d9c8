#ifndef OPTIML_CORE_OWN_LAUNCHER_H_
#define OPTIML_CORE_OWN_LAUNCHER_H_

// The launcher that a source may bring for a task whose kernel is launched by the task file's
// [launch] table: a host function with this name and the kernel's parameters. A source that has it
// is launched by it; any other, the task's own kernel above all, as [launch] says. A rewrite that
// needs another grid or block than the table's writes one into its text.

#include <string>
#include <string_view>

namespace optiml {

// "run_scale_kernel" of "scale_kernel"; what is no letter, digit or underscore becomes one.
inline std::string OwnLauncherName(std::string_view kernel) {
  std::string name = "run_";
  for (const char c : kernel) {
    const bool is_word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += is_word ? c : '_';
  }
  return name;
}

}  // namespace optiml

#endif  // OPTIML_CORE_OWN_LAUNCHER_H_
