#include "core/conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace optiml {
namespace {

// "1980 MHz before, 1965 MHz after"; one side where the other is not known.
std::string ClockText(const char* name, const std::optional<double>& before,
                      const std::optional<double>& after) {
  if (before && after) {
    return fmt::format("{} {:.0f} MHz before, {:.0f} MHz after", name, *before / 1e6, *after / 1e6);
  }
  if (before || after) {
    return fmt::format("{} {:.0f} MHz {}", name, before.value_or(after.value_or(0)) / 1e6,
                       before ? "before" : "after");
  }
  return fmt::format("{} not known", name);
}

}  // namespace

std::string DescribeConditions(const Conditions& conditions) {
  const ClockReading& before = conditions.before;
  const ClockReading& after = conditions.after;
  std::string text = ClockText("SM clock", before.sm_hz, after.sm_hz);
  if (before.memory_hz && after.memory_hz && *before.memory_hz != *after.memory_hz) {
    text += "; " + ClockText("memory clock", before.memory_hz, after.memory_hz);
  }
  if (before.temperature_celsius && after.temperature_celsius) {
    text += fmt::format("; {:.0f} to {:.0f} C", *before.temperature_celsius,
                        *after.temperature_celsius);
  }
  const std::vector<std::string> throttling = ThrottlingOf(conditions);
  if (!throttling.empty()) {
    text += fmt::format("; throttled ({})", fmt::join(throttling, ", "));
  } else {
    text += before.throttling && after.throttling ? "; no throttling"
                                                  : "; whether it was throttled is not known";
  }
  return text;
}

std::vector<std::string> ThrottlingOf(const Conditions& conditions) {
  std::vector<std::string> reasons;
  for (const ClockReading* reading : {&conditions.before, &conditions.after}) {
    for (const std::string& reason : reading->throttling.value_or(std::vector<std::string>())) {
      if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
        reasons.push_back(reason);
      }
    }
  }
  return reasons;
}

std::string ThrottleWarning(const Conditions& conditions) {
  const std::vector<std::string> reasons = ThrottlingOf(conditions);
  return reasons.empty() ? std::string()
                         : fmt::format(
                               "the GPU's clocks were held down while it was measured "
                               "({}): times are longer than those of the full clock",
                               fmt::join(reasons, ", "));
}

Conditions Joined(const Conditions& first, const Conditions& second) {
  Conditions joined{first.before, second.after};
  for (ClockReading* end : {&joined.before, &joined.after}) {
    const Conditions& own = end == &joined.before ? first : second;
    const std::vector<std::string> reasons = ThrottlingOf(own);
    if (end->throttling || !reasons.empty()) {
      end->throttling = reasons;
    }
  }
  return joined;
}

}  // namespace optiml
