#include "device/device.h"

namespace optiml {

std::string_view RunStatusName(RunStatus status) {
  switch (status) {
    case RunStatus::kCompleted:
      return "completed";
    case RunStatus::kFault:
      return "fault";
    case RunStatus::kUnsupported:
      return "unsupported";
    case RunStatus::kTimedOut:
      return "timed out";
    case RunStatus::kDeadlock:
      return "deadlock";
  }
  return "fault";
}

}  // namespace optiml
