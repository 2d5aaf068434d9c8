#include "score/seconds_text.h"

#include <fmt/format.h>

#include <utility>

namespace optiml {

std::string SecondsText(double seconds) {
  constexpr std::pair<double, const char*> kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (const auto& [unit, name] : kUnits) {
    if (seconds >= unit) {
      return fmt::format("{:.4g} {}", seconds / unit, name);
    }
  }
  return fmt::format("{:.4g} ns", seconds / 1e-9);
}

}  // namespace optiml
