#ifndef OPTIML_CLI_EMULATION_VIEW_H_
#define OPTIML_CLI_EMULATION_VIEW_H_

// What the emulator saw of a plan, for people and for scripts: each launch with its counters, the
// source lines that ran most, and every check that fired.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "device/emulator_device.h"

namespace optiml {

struct EmulationView {
  std::string title;        // what was run, at which sizes
  std::string source_text;  // of the file that line numbers count in; may be empty
  size_t lines = 8;         // source lines shown for each launch
  bool shadow = false;      // values were followed in double arithmetic
};

std::string EmulationText(const TraceOutcome& trace, const EmulationView& view);
nlohmann::ordered_json EmulationJson(const TraceOutcome& trace, const EmulationView& view);

}  // namespace optiml

#endif  // OPTIML_CLI_EMULATION_VIEW_H_
