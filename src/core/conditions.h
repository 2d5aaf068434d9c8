#ifndef OPTIML_CORE_CONDITIONS_H_
#define OPTIML_CORE_CONDITIONS_H_

// Conditions: what a GPU's clocks, temperature and power were around a measurement, so that a
// reader can tell whether a time is that of the full clock. What could not be read is absent.

#include <optional>
#include <string>
#include <vector>

namespace optiml {

struct ClockReading {
  std::optional<double> sm_hz;
  std::optional<double> memory_hz;
  std::optional<double> temperature_celsius;
  std::optional<double> power_watts;
  // Why the clocks were held down at that moment: "power cap", "thermal slowdown"; empty: they were
  // not. Absent: not known.
  std::optional<std::vector<std::string>> throttling;
};

struct Conditions {
  ClockReading before;
  ClockReading after;
};

// "SM clock 1980 MHz before, 1965 MHz after; 41 to 47 C; no throttling".
std::string DescribeConditions(const Conditions& conditions);

// Reasons of either reading, each once; empty when there was none that is known.
std::vector<std::string> ThrottlingOf(const Conditions& conditions);

// What a reader must know; empty when nothing was held down.
std::string ThrottleWarning(const Conditions& conditions);

// Of two measurements, one after the other.
Conditions Joined(const Conditions& first, const Conditions& second);

}  // namespace optiml

#endif  // OPTIML_CORE_CONDITIONS_H_
