#ifndef OPTIML_TASK_NAMES_H_
#define OPTIML_TASK_NAMES_H_

// The words of the task format and back, and small text tools that its readers share.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/kernel_task.h"

namespace optiml {

// "normal", "all_negative" ...; never fails.
std::string_view FillKindName(FillKind kind);
// A fill that a task may declare. Fails with the list of known names; the checks' own fills
// (all_negative, small_ints) may be declared too.
Result<FillKind> ParseFillKind(std::string_view name);

std::string_view ArgRoleName(ArgRole role);
Result<ArgRole> ParseArgRole(std::string_view name);

// Whether the launcher writes it: a buffer that is out or inout.
bool IsOutput(const ArgSpec& arg);

std::string_view ReferenceKindName(ReferenceKind kind);

// Letters, digits and underscores, no digit first.
bool IsIdentifier(std::string_view text);
std::string_view Trim(std::string_view text);
// "a, b" -> {"a", "b"}; an empty text has no parts.
std::vector<std::string> SplitTrimmed(std::string_view text, char separator);
// The whole text as a number (C locale); absent when it is none.
std::optional<double> ParseNumber(std::string_view text);
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace optiml

#endif  // OPTIML_TASK_NAMES_H_
