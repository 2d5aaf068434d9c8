#include "cli/counter_check.h"

#include <fmt/format.h>

namespace optiml {

CounterCheck JudgeCounters(const Result<cuda::CounterFacts>& tried) {
  CounterCheck check;
  check.can_count = tried.has_value();
  if (tried) {
    check.what = fmt::format("{} metrics in {} passes, by {}", tried->metrics.size(), tried->passes,
                             tried->library);
    if (!tried->unknown.empty()) {
      check.what += fmt::format("; this GPU lacks {} more", tried->unknown.size());
    }
    return check;
  }
  check.what = tried.error().message();
  check.follows = "profiles hold the emulator's counters; times are measured all the same";
  if (check.what.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    check.follows +=
        "; for the GPU's own load the NVIDIA kernel module with "
        "NVreg_RestrictProfilingToAdminUsers=0, or hand over what ncu counted as root (optiml "
        "profile --ncu)";
  }
  return check;
}

}  // namespace optiml
