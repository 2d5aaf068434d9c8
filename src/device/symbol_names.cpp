#include "device/symbol_names.h"

namespace optiml {
namespace {

constexpr std::string_view kNested = "_ZN";
constexpr std::string_view kInternal = "_ZL";  // of the file's own scope
constexpr std::string_view kFileScope = "_INTERNAL_";
constexpr std::string_view kNameless = "_GLOBAL__N_";

// Takes "5table" and returns "table"; empty, and nothing is taken, when there is no such name.
std::string_view TakeName(std::string_view& rest) {
  size_t length = 0;
  size_t digits = 0;
  while (digits < rest.size() && digits < 5 && rest[digits] >= '0' && rest[digits] <= '9') {
    length = length * 10 + static_cast<size_t>(rest[digits++] - '0');
  }
  if (length == 0 || length > rest.size() - digits) {
    return {};
  }
  const std::string_view name = rest.substr(digits, length);
  rest.remove_prefix(digits + length);
  return name;
}

}  // namespace

std::string QualifiedSymbol(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) {
    return std::string(mangled);
  }
  const bool nested = mangled.starts_with(kNested);
  if (!nested && !mangled.starts_with(kInternal)) {
    return "";
  }
  std::string_view rest = mangled.substr(kNested.size());
  std::string qualified;
  while (!rest.empty() && rest != "E") {
    if (rest.front() == 'L') {
      rest.remove_prefix(1);
    }
    const std::string_view name = TakeName(rest);
    if (name.empty() || (!nested && !rest.empty())) {
      return "";
    }
    if (name.starts_with(kFileScope)) {
      continue;
    }
    qualified += qualified.empty() ? "" : "::";
    qualified += name.starts_with(kNameless) ? std::string_view("(nameless)") : name;
  }
  return qualified;
}

std::string VariableName(const ptx::Module& module, const std::string& symbol) {
  const std::string qualified = QualifiedSymbol(symbol);
  std::string found;
  for (const ptx::Variable& variable : module.variables) {
    if (variable.name == symbol) {
      return symbol;
    }
    if (!qualified.empty() && QualifiedSymbol(variable.name) == qualified) {
      found = variable.name;
    }
  }
  return found;
}

}  // namespace optiml
