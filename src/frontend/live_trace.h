#ifndef OPTIML_FRONTEND_LIVE_TRACE_H_
#define OPTIML_FRONTEND_LIVE_TRACE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frontend/ast.h"
#include "frontend/frontend.h"
#include "frontend/host_memory.h"
#include "frontend/live_plan.h"
#include "frontend/recorder.h"

namespace optiml::frontend {

// The other side of a live run: reads the trace while it comes, lets the device execute it, and
// answers with what the device holds.
class LiveTrace {
 public:
  // Everything is borrowed.
  struct Of {
    const ast::SourceUnit& unit;
    const ast::Function& launcher;
    const RecordedNames& names;
    const std::vector<RecordedCall>& calls;
    Surroundings surroundings;
    PlanLimits limits;
    LiveDevice& device;
  };
  explicit LiveTrace(const Of& of);
  ~LiveTrace();

  // `output`: all that the program wrote so far. What it is to be told, if anything; nothing when
  // it must end.
  std::optional<std::string> Take(std::string_view output);

  // The program has ended. Error of the device.
  Result<std::variant<std::vector<LivePlan>, Refusal>> Finish(std::string_view output);

 private:
  class Reader;
  // Whole frames of the output are added to the trace; true when the program waits behind one.
  bool TakeFrames(std::string_view output);
  void ReadOn(bool at_end);

  const Of of_;
  std::string trace_;
  size_t taken_ = 0;  // bytes of the output
  std::unique_ptr<Reader> reader_;
  std::optional<Refusal> refusal_;
  std::optional<Error> error_;
};

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_LIVE_TRACE_H_
