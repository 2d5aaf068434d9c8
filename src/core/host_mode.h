#ifndef OPTIML_CORE_HOST_MODE_H_
#define OPTIML_CORE_HOST_MODE_H_

// Host mode: a launcher that decides by data which it reads back from the device. Its plans are
// made by live runs, one for each contents, so what is said of it is weaker (docs/verification.md).

#include <string_view>

namespace optiml {

// Evaluation::launcher of such a candidate.
inline constexpr char kHostMode[] = "host mode";

// What is said wherever its result is shown.
inline constexpr char kHostModeNote[] =
    "host mode: the launcher reads device data back to decide. Its launches were traced for each "
    "checked input, and are known for no other; times are of the launches that it chose for the "
    "timed inputs, without the host's work and without copies between host and device.";

inline bool IsHostMode(std::string_view launcher) {
  return launcher == kHostMode;
}

}  // namespace optiml

#endif  // OPTIML_CORE_HOST_MODE_H_
