#include "store/run_record.h"

namespace optiml {

std::string EditMarkName(EditMark mark) {
  switch (mark) {
    case EditMark::kKeep:
      return "KEEP";
    case EditMark::kBridge:
      return "BRIDGE";
    case EditMark::kDropped:
      return "DROPPED";
  }
  return "DROPPED";
}

std::string RunStateName(RunState state) {
  switch (state) {
    case RunState::kRunning:
      return "running";
    case RunState::kInterrupted:
      return "interrupted";
    case RunState::kFinished:
      return "finished";
    case RunState::kFailed:
      return "failed";
  }
  return "failed";
}

}  // namespace optiml
